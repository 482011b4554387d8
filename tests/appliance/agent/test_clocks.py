"""Clocks nest: what has begun ends by its own deadline, and only the turn for the answer or the end stops it."""

import asyncio
from dataclasses import replace

import pytest

from appliance.actions.extraction import EXTRACT, MODEL_SECONDS
from appliance.actions.registry import ACTIONS, Registry
from appliance.actions.waiting import WAIT_FOR
from appliance.agent.clocks import Clocks, StepClock
from appliance.events import ActionFinished
from appliance.words import Ending, FailureKind, ReceiptStatus
from tests.appliance.agent.conftest import Finish

DONE = {"done": {"text": "It is done."}}
NEVER = {"wait_for": {"text": "never there", "seconds": 25}}
FAR = 60.0


async def test_nothing_begins_once_the_step_is_over():
    with pytest.raises(TimeoutError):
        async with StepClock(-1.0, FAR) as clock:
            assert clock.is_over
            clock.begin(1.0)


async def test_what_has_begun_is_not_cut_off_by_the_step():
    async with StepClock(0.05, FAR) as clock:
        clock.begin(FAR)
        while not clock.is_over:  # noqa: ASYNC110  (time is what is waited for)
            await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            clock.begin(0.0)


async def test_without_anything_begun_the_step_ends_by_itself():
    clock = StepClock(0.01, FAR)
    with pytest.raises(TimeoutError):
        async with clock:
            await asyncio.sleep(FAR)
    assert clock.is_over


async def test_what_has_begun_is_stopped_when_everything_must_stop():
    clock = StepClock(0.2, 0.2)
    with pytest.raises(TimeoutError):
        async with clock:
            clock.begin(FAR)
            await asyncio.sleep(FAR)
    assert clock.is_over


def test_each_clock_is_longer_than_those_inside_it():
    clocks = Clocks()
    assert (clocks.model_call, clocks.step, clocks.longest_wait) == (180.0, 520.0, 60.0)
    assert 2 * clocks.model_call < clocks.step
    assert all(action.deadline < clocks.step for action in ACTIONS)
    # An extract asks the model, which may be asked again twice, after a wait at most.
    assert 3 * MODEL_SECONDS + clocks.longest_wait < EXTRACT.deadline


async def test_a_hung_action_ends_by_its_own_deadline_and_the_run_goes_on(finish: Finish):
    impatient = [replace(action, deadline=0.2) if action is WAIT_FOR else action for action in ACTIONS]
    outcome, work = await finish([[NEVER, DONE], DONE], registry=Registry(impatient))
    assert outcome.output == "It is done."
    waited, skipped, _ = work.of(ActionFinished)
    assert (waited.status, skipped.status) == (ReceiptStatus.FAILED, ReceiptStatus.SKIPPED)
    assert "given up after 0.2 s" in waited.text
    assert not work.notices


async def test_a_model_that_does_not_answer_is_asked_once_more_and_then_ends_the_run(finish: Finish):
    outcome, work = await finish([{"__hang__": 30}], clocks=Clocks(model_call=0.5))
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.PROVIDER_TIMEOUT)
    assert "asked_again" in work.notices
    assert len(work.asked) == 2
    assert "estimate for 2 call(s)" in outcome.summary
    assert outcome.tokens.input > 0


async def test_a_model_that_answers_when_asked_again_goes_on(finish: Finish):
    outcome, work = await finish([{"__hang__": 30}, DONE], clocks=Clocks(model_call=6.0))
    assert outcome.output == "It is done."
    assert work.notices == ["asked_again"]


async def test_a_step_that_takes_too_long_is_cut_off_and_told(finish: Finish):
    outcome, work = await finish([DONE], clocks=Clocks(step=0.001), max_steps=3)
    assert (outcome.ending, outcome.is_successful) == (Ending.STEPS_SPENT, False)
    assert work.notices.count("step_cut_off") == 3
    assert not work.asked


async def test_no_request_runs_into_the_turn_for_the_answer(finish: Finish):
    # The first reply shows that the model is slow, so half of the time is kept for the answer.
    slow = {"reply": {"write_file": {"file_name": "notes.md", "content": "a"}}, "__delay__": 4}
    outcome, work = await finish([slow, {"__hang__": 60}, DONE], timeout=12.0)
    assert (outcome.ending, outcome.output) == (Ending.DONE, "It is done.")
    assert work.notices == ["step_cut_off", "delivery_turn"]
    first, _, third = work.asked
    assert third.received_at - first.received_at < 12.0
    closed = work.recorded.steps[1].closed
    assert closed is not None
    assert "cut off" in (closed.trouble or "")
