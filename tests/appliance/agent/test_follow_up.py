"""Runs of one session one after another: each has an answer of its own, and goes on with links and files of before."""

import json
from typing import Any

from tests.appliance.agent.conftest import Finish, Prepare
from tests.site import Site

DONE: dict[str, Any] = {"done": {"text": "Ten lamps are there.", "success": True}}
SCHEMA = {"type": "object", "properties": {"price": {"type": "string"}}, "required": ["price"]}
OTHER = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


async def test_the_answer_of_a_follow_up_is_its_own_whatever_its_schema(finish: Finish, prepare: Prepare, site: Site):
    open_page = {"navigate": {"url": site.url("/agent_cart.html")}}
    fill = {"set_field": {"field": "price", "value": "Close the shop"}}
    first, work = await finish([open_page, fill, DONE], output_schema=SCHEMA)
    assert first.output == {"price": "Close the shop"}

    other = prepare(
        [fill, {"set_field": {"field": "title", "value": "Close the shop"}}, DONE],
        output_schema=OTHER,
        memory=work.agent.memory,
    )
    second = await other.agent.run()
    assert "no field" in other.receipts[0].text.lower() or "price" in other.receipts[0].text
    assert second.output == {"title": "Close the shop"}
    assert set(second.provenance or {}) == {"/title"}
    assert json.loads((other.folder / "scratchpad" / "output.json").read_text()) == {"title": "Close the shop"}

    plain = prepare([{"done": {"text": "In words."}}], memory=other.agent.memory)
    third = await plain.agent.run()
    assert (third.output, third.provenance) == ("In words.", None)

    again = prepare([DONE, DONE, DONE, DONE], output_schema=SCHEMA, memory=plain.agent.memory)
    fourth = await again.agent.run()
    assert fourth.output in (None, {}, {"price": None})
    assert not fourth.is_successful


async def test_links_that_wait_and_files_of_a_number_go_on_in_a_follow_up(finish: Finish, prepare: Prepare, site: Site):
    steps = [
        {"navigate": {"url": site.url("/bulk/list?count=3")}},
        {"find_links": {"href_contains": "/item?"}},
        {"extract": {"query": "all"}},
        DONE,
    ]
    long = "A long text. " * 200
    _, work = await finish({"steps": steps, "extracts": [long]})
    steps = [{"extract": {"query": "all of it"}}, {"read_pages": {}}, DONE]
    second = prepare({"steps": steps, "extracts": [f"Other. {long}"]}, memory=work.agent.memory)
    outcome = await second.agent.run()
    assert outcome.is_successful
    assert "Read 3 of 3" in second.receipts[1].text, second.receipts
    pad = second.folder / "scratchpad"
    kept = sorted(pad.glob("extracted_content_*.md"))
    assert [path.name for path in kept] == ["extracted_content_1.md", "extracted_content_2.md"]
    assert [path.read_text().count("Other.") for path in kept] == [0, 1]
