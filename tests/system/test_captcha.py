"""A captcha in a whole appliance: the key from a file, the solution in the page, the cost apart from the model's."""

from decimal import Decimal
from pathlib import Path

from browser_use_sdk.v3 import BrowserUse

from tests.site import Site
from tests.stand_in import StandIn
from tests.stand_in.solver import KEY, SolverService
from tests.system.instance import API_KEY, Instance


def test_the_cost_of_a_captcha_is_in_the_total_and_not_in_the_models(
    stand_in: StandIn, provider_settings: dict[str, str], tmp_path: Path
):
    (tmp_path / "key").write_text(f"{KEY}\n")
    with Site() as site, SolverService() as service:
        page = site.url("/captcha_image.html")
        stand_in.add(
            "RUN-captcha",
            [
                {"navigate": {"url": page}},
                {"solve_captcha": {}},
                {"click": {"index": {"text": "Send"}}},
                {"done": {"text": "Sent.", "success": True}},
            ],
        )
        settings = {
            **provider_settings,
            "CAPSOLVER_API_KEY_FILE": str(tmp_path / "key"),
            "CAPSOLVER_BASE_URL": service.url,
        }
        with Instance(settings) as instance:
            client = BrowserUse(api_key=API_KEY, base_url=instance.api_url)
            result = client.run("RUN-captcha Send the enquiry.", model="claude-opus-4.7")
            session = client.sessions.get(str(result.session.id))
            messages = client.sessions.messages(str(result.session.id), limit=100).messages
            client.close()
            log = instance.log
    assert result.output == "Sent."
    assert [task["type"] for task in service.tasks] == ["ImageToTextTask"]
    assert Decimal(session.total_cost_usd) - Decimal(session.llm_cost_usd) == Decimal("0.0004")
    assert any('"category": "interaction"' in one.data and '"action": "captcha"' in one.data for one in messages)
    asked = [request.text for request in stand_in.steps if request.marker == "RUN-captcha"]
    assert "solve_captcha {}" in asked[0]
    assert "accepted" in asked[-1]
    assert KEY not in log + "".join(asked) + "".join(one.data for one in messages)
