"""An answer with open fields goes back, with what helps; what it comes to in the end is told plainly."""

import json
from decimal import Decimal
from typing import Any

import pytest

from appliance.words import Ending, FailureKind
from tests.appliance.agent.conftest import Finish, Work
from tests.appliance.agent.moves import navigate
from tests.schemas import INTEGER, NUMBER, TEXT, list_schema
from tests.site import Site

SCHEMA = list_schema({"name": TEXT, "price": NUMBER}, ["name", "price"], own={"total": INTEGER})
LENIENT: dict[str, Any] = json.loads(json.dumps(SCHEMA).replace('"number"', '["number", "null"]'))
"""The same, but a price may be null."""
BELL = {"add_item": {"item": {"name": "Bell"}}}
LAMP = {"add_item": {"item": {"name": "Lamp", "price": 4}}}
TOTAL = {"set_field": {"field": "total", "value": 2}}
DONE = {"done": {"text": "Both are recorded."}}
ABSENT = {"mark_absent": {"field": "price", "reason": "The page has no price.", "index": 0}}


def refused(work: Work) -> list[str]:
    return [receipt.text for receipt in work.receipts if receipt.name == "done" and receipt.status == "failed"]


async def test_an_answer_with_open_fields_goes_back_and_passes_once_they_are_filled_or_absent(
    finish: Finish, site: Site
):
    look = {"extract": {"query": "the price"}}
    steps = [navigate(site), [BELL, LAMP], DONE, [TOTAL, look, ABSENT], DONE]
    outcome, work = await finish(steps, output_schema=LENIENT)
    (said,) = refused(work)
    assert "price is missing on item 0." in said
    assert "total is not set." in said
    assert "mark_absent" in said
    assert outcome.output == {"items": [{"name": "Bell", "price": None}, {"name": "Lamp", "price": 4}], "total": 2}
    assert (outcome.ending, outcome.is_successful) == (Ending.DONE, True)
    assert outcome.summary == "Both are recorded."
    assert outcome.provenance is not None
    assert outcome.provenance["/items/0/price"] == {"status": "absent", "reason": "The page has no price."}


async def test_three_tries_without_progress_end_the_run_with_what_there_is_and_say_so(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), [BELL, TOTAL], DONE], output_schema=SCHEMA, max_steps=20)
    assert len(refused(work)) == 2
    assert outcome.ending is Ending.DONE
    assert not outcome.is_successful
    assert outcome.output == {"items": [{"name": "Bell"}], "total": 2}
    assert "not complete. price is missing on item 0." in outcome.summary
    assert "does not fit the output schema" in outcome.summary
    assert work.notices.count("incomplete") == 1
    assert len(work.asked) == 5


async def test_an_answer_of_too_few_or_too_many_items_goes_back_and_passes_once_it_fits(finish: Finish, site: Site):
    of_two: dict[str, Any] = json.loads(json.dumps(LENIENT))
    of_two["properties"]["items"] |= {"minItems": 2, "maxItems": 2}
    horn = {"add_item": {"item": {"name": "Horn", "price": 5}}}
    steps = [navigate(site), [TOTAL, LAMP], DONE, [BELL, horn], DONE, [{"remove_items": {"indices": [1]}}, DONE]]
    outcome, work = await finish(steps, output_schema=of_two)
    assert "items:" in refused(work)[0] and "less than 2 items" in refused(work)[0]
    assert len(refused(work)) == 2
    assert (outcome.output["items"][1]["name"], outcome.is_successful) == ("Horn", True)


async def test_a_value_that_came_in_between_gives_the_run_its_tries_anew(finish: Finish, site: Site):
    steps = [navigate(site), BELL, DONE, DONE, TOTAL, DONE, DONE, DONE]
    outcome, work = await finish(steps, output_schema=SCHEMA, max_steps=20)
    assert len(refused(work)) == 4
    assert outcome.output == {"items": [{"name": "Bell"}], "total": 2}
    assert work.notices.count("incomplete") == 1


async def test_a_value_that_is_set_and_cleared_by_turns_is_no_progress(finish: Finish, site: Site):
    clear = {"set_field": {"field": "total", "value": None}}
    outcome, work = await finish(
        [navigate(site), [BELL, TOTAL], DONE, clear, DONE, TOTAL, DONE, clear, DONE], output_schema=SCHEMA
    )
    assert len(refused(work)) == 2
    assert (outcome.ending, outcome.is_successful) == (Ending.DONE, False)


async def test_links_that_are_not_in_the_answer_send_it_back_once_only(finish: Finish, site: Site):
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
        },
        "required": ["items"],
    }
    steps = [{"navigate": {"url": site.url("/bulk_links.html")}}, {"find_links": {}}, BELL, DONE, DONE]
    outcome, work = await finish(steps, output_schema=schema)
    (said,) = refused(work)
    assert "of the links found are not in the answer, which has 1 item(s)" in said
    assert site.url("") in said
    assert outcome.is_successful
    assert outcome.output == {"items": [{"name": "Bell"}]}


async def test_an_empty_list_is_an_answer_when_it_is_said(finish: Finish, site: Site):
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string"}}},
        "required": ["items"],
    }
    nothing = {"set_field": {"field": "items", "value": []}}
    outcome, work = await finish([navigate(site), DONE, nothing, DONE], output_schema=schema)
    assert "items" in refused(work)[0]
    assert (outcome.output, outcome.is_successful) == ({"items": []}, True)


async def test_a_whole_answer_in_the_text_is_taken_into_the_store_and_held_to_the_same_rules(
    finish: Finish, site: Site
):
    half = {"items": [{"name": "Bell", "price": None}], "total": 1}
    whole = {"items": [{"name": "Bell", "price": 7}], "total": 1}
    texts = [{"done": {"text": json.dumps(half)}}, {"done": {"text": json.dumps(whole)}}]
    outcome, work = await finish([navigate(site), *texts], output_schema=LENIENT)
    assert "price is missing on item 0" in refused(work)[0]
    assert (outcome.output, outcome.is_successful) == (whole, True)
    assert json.loads((work.folder / "scratchpad" / "output.json").read_text()) == whole


async def test_a_value_that_is_required_but_absent_is_handed_over_and_does_not_count_as_the_shape(
    finish: Finish, site: Site
):
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"price": {"type": "number"}},
        "required": ["price"],
    }
    absent = {"mark_absent": {"field": "price", "reason": "No price is stated."}}
    outcome, _ = await finish([navigate(site), absent, DONE], output_schema=schema)
    assert (outcome.ending, outcome.is_successful) == (Ending.DONE, False)
    assert outcome.output == {"price": None}
    assert "does not fit the output schema: price" in outcome.summary


async def test_a_run_stopped_by_its_cap_delivers_a_store_that_fits(finish: Finish, site: Site):
    dear = {"input": 10_000}
    steps = [navigate(site), {"reply": [LAMP, TOTAL], "__usage__": dear}, DONE]
    outcome, work = await finish(steps, output_schema=SCHEMA, max_cost_usd=Decimal("0.012"))
    assert (outcome.ending, outcome.failure) == (Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED)
    assert outcome.is_successful
    assert outcome.output == {"items": [{"name": "Lamp", "price": 4}], "total": 2}
    assert outcome.notice is not None
    assert outcome.notice.code == "store_delivered"
    assert outcome.notice.text in outcome.summary
    assert len(work.asked) == 2
    assert work.recorded.closed is not None
    assert work.recorded.closed.is_successful


@pytest.mark.parametrize("ending", [{"__http__": 400}, {"__hang__": 60}])
async def test_a_run_that_a_fault_or_the_clock_ends_hands_an_unfinished_store_over_as_partial(
    finish: Finish, site: Site, ending: dict[str, Any]
):
    outcome, _ = await finish([navigate(site), BELL, ending], output_schema=SCHEMA, timeout=12.0)
    assert outcome.ending in (Ending.FAILED, Ending.TIMED_OUT)
    assert not outcome.is_successful
    assert outcome.output == {"items": [{"name": "Bell"}]}
    assert "handed over, as partial" in outcome.summary
    assert "missing price on all" in outcome.summary
    assert outcome.notice is None
    assert outcome.provenance is not None


async def test_a_store_that_nothing_was_written_into_is_no_answer(finish: Finish, site: Site):
    outcome, _ = await finish([navigate(site), {"__http__": 400}], output_schema=SCHEMA)
    assert (outcome.output, outcome.is_successful, outcome.provenance) == (None, False, None)


async def test_the_last_turn_hands_over_what_the_store_holds_and_sends_nothing_back(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), BELL, DONE], output_schema=SCHEMA, max_steps=3)
    assert refused(work) == []
    assert outcome.output == {"items": [{"name": "Bell"}]}
    assert not outcome.is_successful
    assert "price is missing on item 0" in outcome.summary


async def test_in_the_last_turn_an_answer_in_the_text_fills_a_store_that_is_empty(finish: Finish, site: Site):
    whole = {"items": [{"name": "Bell", "price": 7}], "total": 1}
    steps = [navigate(site), {"done": {"text": "I have nothing."}}, {"done": {"text": json.dumps(whole)}}]
    outcome, work = await finish(steps, output_schema=SCHEMA, max_steps=2)
    assert (outcome.output, outcome.is_successful) == (whole, True)
    assert "nothing was written into the answer" in work.asked[-1].text


async def test_what_helps_is_named_with_the_answer_that_goes_back(finish: Finish, site: Site):
    draft = {"write_file": {"file_name": "rows_draft.json", "content": '[{"name": "Bell", "price": 7}]'}}
    pages = {
        "write_file": {
            "file_name": "pages.json",
            "content": '[{"url": "http://a/", "jsonld": [{"offers": {"totalPrice": 7}}]}]',
        }
    }
    take = {"add_items_from_file": {"name": "rows_draft.json"}}
    steps = [navigate(site), [draft, pages], DONE, [take, TOTAL], DONE]
    outcome, work = await finish(steps, output_schema=SCHEMA)
    (said,) = refused(work)
    assert 'add_items_from_file {"name": "rows_draft.json"}' in said
    assert "totalPrice (it may be total)" in said
    assert outcome.output == {"items": [{"name": "Bell", "price": 7}], "total": 2}


async def test_an_incomplete_answer_that_fits_its_schema_counts_and_still_says_what_it_lacks(
    finish: Finish, site: Site
):
    outcome, work = await finish([navigate(site), [BELL, TOTAL], DONE], output_schema=LENIENT, max_steps=20)
    assert outcome.is_successful
    assert outcome.output == {"items": [{"name": "Bell", "price": None}], "total": 2}
    assert "The answer is not complete. price is missing on item 0." in outcome.summary
    assert work.notices.count("incomplete") == 1
