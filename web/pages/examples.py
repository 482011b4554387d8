"""The lines that show how programs use this server, with its real address filled in."""

from appliance.settings import Settings


def python_example(settings: Settings, key: str) -> str:
    """Return a few lines for the cloud's own Python client."""
    return (
        "from browser_use_sdk.v3 import BrowserUse\n"
        f'client = BrowserUse(\n    api_key="{key}",\n    base_url="{settings.base_url}/api/v3",\n)\n'
        f'print(client.run("Open {settings.local_url}/demo/ and list the wares").output)'
    )


def curl_example(settings: Settings, key: str) -> str:
    """Return a request that needs no model key."""
    task = f"Open {settings.local_url}/demo/wares/brass-anchor-lamp"
    return (
        f"curl -s {settings.base_url}/v3/sessions \\\n"
        f'  -H "X-Browser-Use-API-Key: {key}" \\\n'
        f"""  -d '{{"task": "{task}", "model": "autopilot"}}'"""
    )
