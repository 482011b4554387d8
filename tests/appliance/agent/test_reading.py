"""A long page that is read part by part in a run: what it costs is counted once, and the answer's share is left."""

from decimal import Decimal
from typing import Any

from appliance.events import ActionFinished, GoalStated, Reviewed, StepPlanned, TokenCount
from tests.appliance.agent.conftest import Finish
from tests.site import Site

DONE = {"done": {"text": "It is done."}}
READ = {"extract": {"query": "amounts"}}


def priced(tokens: int, said: object) -> dict[str, object]:
    return {"reply": said, "__usage__": {"input": tokens, "cache_read": 0, "cache_write": 0, "output": 0}}


async def test_every_part_is_charged_to_the_action_that_had_it_read(finish: Finish, site: Site):
    steps = [{"navigate": {"url": site.url("/rows?nodes=4000")}}, READ, DONE]
    extracts = [priced(1_000, "one"), priced(200, "two"), priced(30, "three")]
    outcome, work = await finish({"steps": steps, "extracts": extracts}, provider="compatible", window=16_000)
    read = next(event for event in work.of(ActionFinished) if event.name == "extract")
    parts = int(read.text.split(" in ")[1].split(" parts")[0])
    assert parts >= 2
    assert read.tokens.input == 1_000 + 200 + 30 * (parts - 2)
    told = GoalStated | StepPlanned | ActionFinished | Reviewed
    assert sum((event.tokens for event in work.events if isinstance(event, told)), TokenCount()) == outcome.tokens
    assert all(step.closed is not None for step in work.recorded.steps)


async def test_reading_leaves_the_money_for_the_answer(finish: Finish, site: Site):
    task = f"Read {site.url('/rows?nodes=4000')}."
    steps = [{"navigate": {"url": site.url("/rows?nodes=4000")}}, READ, DONE]
    scenario = {"steps": [priced(5_000, step) for step in steps], "extracts": [priced(20_000, "some amounts")]}
    options: dict[str, Any] = {"provider": "compatible", "window": 16_000, "task": task}
    outcome, work = await finish(scenario, max_cost_usd=Decimal("0.055"), **options)
    read = next(event for event in work.of(ActionFinished) if event.name == "extract")
    assert "what is left of time and money is kept for the answer" in read.text
    assert outcome.output == "It is done."
    assert outcome.cost_usd is not None
    assert outcome.cost_usd <= Decimal("0.055")
