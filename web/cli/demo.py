"""`pilothouse demo`: the keyless demonstration task on the built-in shop, through the HTTP API."""

import typer

from appliance.settings import load_settings
from web.cli.access import open_local_client
from web.cli.client import follow, print_result
from web.demo.task import DEMO_SCHEMA, describe_task


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo() -> None:
    """Run the keyless demonstration task and print its result."""
    settings = load_settings()
    with open_local_client(settings) as client:
        session = client.call(
            "POST",
            "sessions",
            {"task": describe_task(settings.local_url), "model": "autopilot", "outputSchema": DEMO_SCHEMA},
        )
        print(f"Watch: {session['liveUrl']}", flush=True)
        print_result(follow(client, session["id"]))
