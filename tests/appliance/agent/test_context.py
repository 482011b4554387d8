"""What the loop does about the goal and about requests that are too long."""

import asyncio

import pytest

from appliance.browser.connection import Browser
from appliance.events import GoalStated, StepPlanned
from appliance.words import Ending, FailureKind, ReceiptStatus
from tests.appliance.agent.conftest import Finish, Prepare, Work
from tests.schemas import NUMBER
from tests.site import Site

DONE = {"done": {"text": "It is done."}}
OVERFLOW = {"__overflow__": True}
ALL = pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])


def note(number: int) -> dict[str, object]:
    return {"write_file": {"file_name": f"{number}.md", "content": str(number)}}


@ALL
async def test_the_goal_is_stated_before_the_first_step_and_stands_in_every_request(finish: Finish, provider: str):
    scenario = {"steps": [note(1), DONE], "goals": ["The price of the lamp is told."]}
    outcome, work = await finish(scenario, provider=provider)
    assert outcome.is_successful
    (goal,) = work.of(GoalStated)
    assert goal.goal == "The price of the lamp is told."
    assert goal.tokens.input > 0
    assert work.events.index(goal) < work.events.index(work.of(StepPlanned)[0])
    assert all("GOAL: The price of the lamp is told." in request.text for request in work.asked)


@pytest.mark.parametrize("fault", [{"__http__": 400}, {"__http__": 500, "retry_after": 3600}, {"__drop__": True}])
async def test_a_goal_that_cannot_be_had_is_the_first_sentence_of_the_task(finish: Finish, fault: dict[str, object]):
    outcome, work = await finish({"steps": [DONE], "goals": [fault]}, task="Find the lamp. Tell its price.")
    assert outcome.is_successful
    assert work.of(GoalStated)[0].goal == "Find the lamp."
    assert not work.notices


async def test_autopilot_states_the_goal_without_any_call(finish: Finish):
    _, work = await finish([DONE], provider="autopilot", task="Find the lamp. Tell its price.")
    assert work.of(GoalStated)[0].goal == "Find the lamp."
    assert not work.stand_in.requests


@ALL
async def test_a_request_that_is_refused_as_too_long_is_compacted_and_sent_once_more(finish: Finish, provider: str):
    steps = [*map(note, range(5)), OVERFLOW, DONE]
    summary = "Five notes were written, and the lamp costs 39.90."
    outcome, work = await finish({"steps": steps, "summaries": [summary]}, provider=provider)
    assert (outcome.output, outcome.steps) == ("It is done.", 6)
    assert "compacted" in work.notices
    refused, accepted = work.asked[-2:]
    assert summary in accepted.text
    assert summary not in refused.text
    assert work.recorded.closed is not None
    assert [step.asked.step for step in work.recorded.steps] == [1, 2, 3, 4, 5, 6]


async def test_a_request_that_is_still_too_long_ends_the_run(finish: Finish):
    outcome, work = await finish([note(1), note(2), OVERFLOW])
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.PROVIDER_ERROR)
    assert len(work.asked) == 4


async def test_a_page_that_is_too_long_to_be_extracted_is_told_to_the_model(finish: Finish):
    steps = [{"extract": {"query": "price"}}, DONE]
    outcome, work = await finish({"steps": steps, "extracts": [OVERFLOW]})
    assert outcome.is_successful
    assert work.receipts[0].status is ReceiptStatus.FAILED
    assert "too long for the model" in work.receipts[0].text


HEIGHT = {"type": "object", "properties": {"height": NUMBER}, "required": ["height"]}


async def until_a_summary_is_asked_for(work: Work) -> None:
    async with asyncio.timeout(60):
        while not [request for request in work.stand_in.requests if request.kind == "summary"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_run_that_is_stopped_while_its_steps_are_summed_up_hands_over_what_it_had(prepare: Prepare):
    fill = {"set_field": {"field": "height", "value": 3.5}}
    steps = [fill, *map(note, range(4)), OVERFLOW, DONE]
    work = prepare({"steps": steps, "summaries": [{"__hang__": True}]}, task="3.5 m is told.", output_schema=HEIGHT)
    running = asyncio.create_task(work.agent.run())
    await until_a_summary_is_asked_for(work)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    outcome = work.agent.outcome_so_far()
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.STOPPED, {"height": 3.5}, True)
    assert "estimate" in outcome.summary
    assert work.recorded.closed is not None


async def test_a_tab_that_crashes_while_the_answer_is_asked_for_keeps_nobody_waiting(
    prepare: Prepare, browser: Browser, site: Site
):
    start = {"navigate": {"url": site.url("/agent_order.html")}}
    steps = [start, {"__delay__": 2.0, "reply": DONE}]
    work = prepare({"steps": steps}, max_steps=2)
    running = asyncio.create_task(work.agent.run())
    async with asyncio.timeout(60):
        while len(work.asked) < 2:  # noqa: ASYNC110  (the stand-in answers on threads of its own)
            await asyncio.sleep(0.01)
        browser.tab.post("Page.crash", {})
        outcome = await running
    assert (outcome.ending, outcome.output) == (Ending.DONE, "It is done."), outcome
