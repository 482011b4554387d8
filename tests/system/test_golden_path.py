"""Structured data from many pages, by the unmodified client of the cloud with a pydantic model, end to end."""

import json
from collections.abc import Iterator

import pytest
from browser_use_sdk.v3 import BrowserUse
from pydantic import BaseModel

from tests.stand_in import StandIn
from tests.system.instance import Instance
from tests.system.wares import MAKERS, price, serve_shop


class Ware(BaseModel):
    name: str
    manufacturer: str
    price: float
    url: str
    energy_label: str | None


class Wares(BaseModel):
    wares: list[Ware]


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_shop() as url:
        yield url


def test_a_listing_with_a_panel_a_dead_link_and_a_field_that_no_page_states_becomes_a_complete_answer(
    instance: Instance, stand_in: StandIn, client: BrowserUse, shop: str
):
    steps = [
        {"navigate": {"url": shop}},
        {"find_links": {"href_contains": "/ware/"}},
        {"read_pages": {}},
        {"add_items_from_file": {"name": "rows_draft.json"}},
        {"mark_absent": {"field": "energy_label", "reason": "No page of the shop states one."}},
        {"done": {"text": "All five wares; the sixth link is dead.", "success": True}},
    ]
    stand_in.add("RUN-wares", steps)
    result = client.run(f"RUN-wares Record every ware at {shop}", model="claude-opus-4.7", output_schema=Wares)
    session = client.sessions.get(str(result.session.id))
    told = [request.text[-6_000:] for request in stand_in.steps if request.marker == "RUN-wares"]
    assert session.is_task_successful, (session.last_step_summary, *told[-2:])
    found = {ware.name: ware for ware in result.output.wares}
    assert {name: (ware.manufacturer, ware.price) for name, ware in found.items()} == {
        f"Ware {number}": (maker, price(number)) for number, maker in MAKERS.items()
    }
    assert all(ware.energy_label is None for ware in found.values())
    assert sum(ware.url.startswith(shop) for ware in found.values()) == 3
    _check_sources(instance, str(result.session.id), [ware.model_dump() for ware in result.output.wares])


def _check_sources(instance: Instance, session_id: str, wares: list[dict[str, object]]) -> None:
    """Check that every value says where it was read, and every gap that it was looked for."""
    (run,) = instance.http.get(f"/v3/sessions/{session_id}/export").json()["runs"]
    sources = run["provenance"]
    for number, ware in enumerate(wares):
        for name in ("name", "manufacturer", "price"):
            source = sources[f"/wares/{number}/{name}"]
            assert (source["status"], source["url"]) == ("read", ware["url"]), (name, source)
            assert source["quote"]
        absent = sources[f"/wares/{number}/energy_label"]
        assert absent["status"] == "absent"
        assert "No page of the shop" in absent["reason"]


def test_the_keyless_model_does_the_same_and_is_not_reviewed(instance: Instance, client: BrowserUse, shop: str):
    result = client.run(f"Record every ware at {shop}", model="autopilot", output_schema=Wares)
    session = instance.http.get(f"/v3/sessions/{result.session.id}").json()
    assert session["isTaskSuccessful"], session["lastStepSummary"]
    assert {ware.name for ware in result.output.wares} == {f"Ware {number}" for number in MAKERS}
    events = instance.messages(session)
    assert not any(json.loads(event["data"]).get("category") == "judge" for event in events)
