"""What becomes of an answer that is not finished by its agent, by the unmodified client of the cloud."""

from typing import Any

from browser_use_sdk.v3 import BrowserUse
from playwright.sync_api import expect
from pydantic import BaseModel

from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually
from tests.web.browsing import launch, visit


class Lamp(BaseModel):
    name: str
    price: float


class Lamps(BaseModel):
    lamps: list[Lamp]


WHOLE = {"add_item": {"item": {"name": "Brass anchor lamp", "price": 128.5}}}
HALF = {"add_item": {"item": {"name": "Brass anchor lamp"}}}


def _ware(instance: Instance) -> dict[str, Any]:
    return {"navigate": {"url": f"http://127.0.0.1:{instance.port}/demo/wares/brass-anchor-lamp"}}


def test_a_run_stopped_by_its_cap_still_delivers_and_each_value_can_be_asked_where_it_was_read(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    dear = {"input": 60_000, "output": 20}
    stand_in.add("RUN-cap", [_ware(instance), {"reply": WHOLE, "__usage__": dear}, {"wait": {"seconds": 1}}])
    result = client.run("RUN-cap Record the lamp", model="claude-opus-4.7", output_schema=Lamps, max_cost_usd=0.2)
    assert result.output == Lamps(lamps=[Lamp(name="Brass anchor lamp", price=128.5)])
    session = client.sessions.get(str(result.session.id))
    assert session.is_task_successful
    path = f"/v3/sessions/{result.session.id}"
    told = instance.http.get(path, params={"include": "provenance"}).json()
    assert told["failureKind"] == "budget_exceeded"
    assert "is delivered" in told["lastStepSummary"]
    price = told["provenance"]["/lamps/0/price"]
    assert price["status"] == "read"
    assert price["url"].endswith("/brass-anchor-lamp")
    assert "128.5" in price["quote"]
    messages = client.sessions.messages(str(result.session.id), limit=100).messages
    assert any('"storeComplete"' in message.data for message in messages)
    for browser in launch():
        with visit(browser, instance.api_url) as visitor:
            visitor.page.goto(told["liveUrl"])
            visitor.page.get_by_role("button", name="128.5").click()
            visitor.page.locator("#source .source-quote mark").wait_for()
            expect(visitor.page.locator("#source img")).to_be_visible()
            expect(visitor.page.locator("#source img")).not_to_have_js_property("naturalWidth", 0)
            assert visitor.complaints == []


def test_a_stopped_run_hands_its_unfinished_answer_over_as_partial(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-stop", [_ware(instance), HALF, {"__hang__": 60}])
    made = client.sessions.create(
        "RUN-stop Record the lamp", model="claude-opus-4.7", output_schema=Lamps.model_json_schema()
    )
    session_id = str(made.id)

    def has_written() -> bool:
        messages = client.sessions.messages(session_id, limit=100).messages
        return any("Added item 0" in (message.summary or "") for message in messages)

    eventually(has_written, "the first record is there", 60)
    client.sessions.stop(session_id)
    told = instance.http.get(f"/v3/sessions/{session_id}").json()
    assert told["isTaskSuccessful"] is False
    assert told["output"] == {"lamps": [{"name": "Brass anchor lamp"}]}
    assert "handed over, as partial" in told["lastStepSummary"]
    (run,) = instance.http.get(f"/v3/sessions/{session_id}/export").json()["runs"]
    assert run["provenance"]["/lamps/0/name"]["status"] == "read"
