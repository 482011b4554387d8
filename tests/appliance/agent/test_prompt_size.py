import json
from itertools import pairwise
from statistics import median

import pytest

from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.seeing import shared
from tests.site import Site
from tests.stand_in import Received

DONE = {"done": {"text": "ok", "success": True}}
LIMIT = 20_000


def prompt_of(request: Received) -> str:
    """Everything the model reads: the tools that are offered, the rules and the messages."""
    return json.dumps(request.body.get("tools", [])) + "".join(request.texts)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_a_long_run_on_one_dense_page_stays_small_and_repeats_itself(finish: Finish, site: Site, provider: str):
    open_page = {"navigate": {"url": site.url("/rows?nodes=1000")}}
    fill = [{"input": {"index": {"label": "Amount 3"}, "text": str(number)}} for number in range(200, 225)]
    outcome, work = await finish([open_page, *fill, DONE], provider=provider, max_steps=60)
    assert outcome.is_successful
    assert {receipt.status for receipt in work.receipts} == {"ok"}
    prompts = [prompt_of(request) for request in work.asked]
    assert max(map(len, prompts)) <= LIMIT
    shares = [shared(before, now) for before, now in pairwise(prompts[1:])]
    assert min(shares) >= 0.85, shares
    assert all(len(image) <= 60_000 for request in work.asked for image in request.images)
    assert max(len(request.images) for request in work.asked) <= 2


async def test_a_run_through_many_dense_pages_stays_small(finish: Finish, site: Site):
    pages = [{"navigate": {"url": site.url(f"/rows?nodes={nodes}")}} for nodes in range(1_000, 1_300, 20)]
    scrolls = [{"scroll": {"down": True, "pages": 2}} for _ in pages]
    steps = [step for pair in zip(pages, scrolls, strict=True) for step in pair]
    _, work = await finish([*steps, DONE], max_steps=60)
    assert len(work.asked) == len(steps) + 1
    assert max(len(prompt_of(request)) for request in work.asked) <= LIMIT


async def test_what_the_changes_say_is_what_the_page_shows(finish: Finish, site: Site):
    steps = [
        {"navigate": {"url": site.url("/agent_cart.html")}},
        {"input": {"index": {"label": "Name"}, "text": "Ann"}},
        {"click": {"index": {"text": "Plus"}}},
        {"click": {"index": {"text": "Send"}}},
        DONE,
    ]
    _, work = await finish(steps)
    last = work.asked[-1].text
    assert last.count("<page>\n") == 1
    changes = last.rsplit("<page_changes>\n", 1)[1].split("</page_changes>")[0]
    assert "value=Ann" in changes
    assert "+1" in changes.splitlines()
    assert "+Sent." in changes.splitlines()


async def test_a_run_that_fills_in_an_answer_stays_small_and_tells_each_step_how_far_it_is(finish: Finish, site: Site):
    fields = {name: {"type": "string"} for name in ("name", "amount", "note")}
    item = {"type": "object", "properties": fields, "required": ["name", "amount"]}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}, "required": ["items"]}
    open_page = {"navigate": {"url": site.url("/rows?nodes=1000")}}
    adds = [
        [
            {"add_item": {"item": {"name": f"Row {number}", "amount": str(number)}}},
            {"input": {"index": {"label": "Amount 3"}, "text": str(number)}},
        ]
        for number in range(25)
    ]
    outcome, work = await finish([open_page, *adds, DONE], max_steps=60, output_schema=schema)
    assert outcome.is_successful
    prompts = [prompt_of(request) for request in work.asked]
    assert max(map(len, prompts)) <= LIMIT
    shares = [shared(before, now) for before, now in pairwise(prompts[1:])]
    assert median(shares) >= 0.85, shares
    told = [prompt.rsplit("<answer>\n", 1)[1].split("\n</answer>")[0] for prompt in prompts]
    assert told[0].startswith("0 items.")
    assert told[-1].startswith("25 items: name, amount on all")
    assert "mark_absent" in work.asked[0].text


async def test_without_a_schema_nothing_is_said_of_an_answer_to_be_filled_in(finish: Finish, site: Site):
    _, work = await finish([{"navigate": {"url": site.url("/rows")}}, DONE])
    assert "<answer>" not in work.asked[0].text
    assert "# The answer" not in work.asked[0].text
