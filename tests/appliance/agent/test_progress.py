import pytest

from appliance.agent.progress import Progress
from appliance.agent.step import Plan, PlannedAction, Step
from appliance.browser.observation import Observation, Scroll
from appliance.errors import ActionInvalid, RunFailed
from appliance.events import ActionCall
from appliance.words import FailureKind


def step(fingerprint: str = "f", name: str = "click", **arguments: object) -> Step:
    page = Observation("http://a/", "A", (), (), {}, Scroll(0, 0, 800), fingerprint)
    action = PlannedAction(ActionCall("call_1", name, arguments), ActionInvalid("unused"))
    return Step(1, observation=page, plan=Plan("", "", "", (action,)))


def test_the_third_equal_try_is_pointed_out_and_the_eighth_ends_the_run():
    progress = Progress()
    stuck = []
    for _ in range(7):
        progress.note(step(index=3))
        stuck.append(progress.is_stuck)
    assert stuck == [False, False, True, True, True, True, True]
    with pytest.raises(RunFailed, match="8 times") as failed:
        progress.note(step(index=3))
    assert failed.value.failure is FailureKind.AGENT_FAILURE


def test_two_tries_in_turn_are_no_progress_either():
    progress = Progress()
    with pytest.raises(RunFailed):
        for _ in range(8):
            progress.note(step(index=3))
            progress.note(step(index=4))


def test_the_same_action_on_a_changed_page_is_progress():
    progress = Progress()
    for number in range(30):
        progress.note(step(f"page {number}", index=3))
    assert not progress.is_stuck


def test_waiting_is_pointed_out_but_never_given_up_on():
    progress = Progress()
    for _ in range(20):
        progress.note(step(name="wait", seconds=30))
    assert progress.is_stuck


def test_a_step_without_a_plan_is_not_counted():
    progress = Progress()
    for _ in range(20):
        progress.note(Step(1))
    assert not progress.is_stuck
