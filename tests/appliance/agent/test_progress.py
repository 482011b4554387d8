from dataclasses import replace

import pytest

from appliance.actions.base import Receipt
from appliance.agent.progress import Progress
from appliance.agent.step import Plan, PlannedAction, Step
from appliance.browser.observation import Observation, Screenshot, Scroll
from appliance.errors import ActionInvalid
from appliance.events import ActionCall
from appliance.words import ReceiptStatus

OK, NO_EFFECT, FAILED = ReceiptStatus.OK, ReceiptStatus.NO_EFFECT, ReceiptStatus.FAILED


def action(name: str, **arguments: object) -> PlannedAction:
    return PlannedAction(ActionCall("call_1", name, arguments), ActionInvalid("unused"))


def step(
    page: str = "f", name: str = "click", status: ReceiptStatus = OK, *, rejected: int = 0, **arguments: object
) -> Step:
    observation = Observation("http://a/", "A", (), (), {}, Scroll(0, 0), page)
    return Step(
        1,
        observation=observation,
        plan=Plan("", "", "", (action(name, **arguments),)),
        receipts=[Receipt(status, "What came of it.")],
        rejected=["?"] * rejected,
    )


def test_the_third_equal_try_is_pointed_out_the_fifth_bars_it_the_eighth_is_the_end():
    progress = Progress()
    rungs: list[tuple[bool, bool, bool]] = []
    for _ in range(8):
        progress.note(step(index=3))
        rungs.append((progress.is_stuck, progress.must_replan, progress.is_hopeless))
    fine, nudged, replanning, hopeless = (
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (True, True, True),
    )
    assert rungs == [fine, fine, nudged, nudged, replanning, replanning, replanning, hopeless]


def test_two_tries_in_turn_are_no_progress_either():
    progress = Progress()
    for _ in range(8):
        progress.note(step(index=3))
        progress.note(step(index=4))
    assert progress.is_hopeless


def test_the_same_action_on_a_page_that_changes_is_progress():
    progress = Progress()
    for number in range(30):
        progress.note(step(f"page {number}", index=3))
        assert not progress.is_stuck


@pytest.mark.parametrize("status", [NO_EFFECT, FAILED, ReceiptStatus.BLOCKED])
def test_actions_without_effect_count_even_when_page_and_element_are_others_each_time(status: ReceiptStatus):
    progress = Progress()
    for number in range(8):
        progress.note(step(f"clock {number}", status=status, index=number))
    assert progress.is_hopeless


def test_a_step_that_gets_somewhere_takes_two_failures_back():
    progress = Progress()
    for number in range(20):
        progress.note(step(f"{number}", status=FAILED, index=number))
        progress.note(step(f"{number}", status=FAILED, index=-1 - number))
        progress.note(step(f"{number}", index=1000 + number))
        assert not progress.is_stuck


def test_replies_that_could_not_be_used_count():
    progress = Progress()
    progress.note(step("a", rejected=2, status=FAILED, index=1))
    assert progress.count == 3
    assert progress.is_stuck


def test_a_step_that_was_cut_off_before_it_had_a_plan_counts():
    progress = Progress()
    for _ in range(3):
        progress.note(Step(1))
    assert progress.is_stuck


def test_waiting_on_an_unchanged_page_counts_however_long_each_time():
    progress = Progress()
    for seconds in range(8):
        progress.note(step(name="wait", seconds=seconds))
    assert progress.is_hopeless


def test_waiting_while_the_page_changes_is_progress():
    progress = Progress()
    for number in range(20):
        progress.note(step(f"{number} %", name="wait", seconds=30))
        assert not progress.is_stuck


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (action("search", query="Red shoes"), action("search", query="shoes red")),
        (action("input", index=1, text="Ada "), action("input", index=1, text="ada")),
        (action("click", index=1, count=None), action("click", index=1)),
    ],
)
def test_spelling_does_not_make_another_try_of_it(one: PlannedAction, other: PlannedAction):
    progress = Progress()
    for number in range(8):
        tried = step()
        tried.plan = Plan("", "", "", (one if number % 2 else other,))
        progress.note(tried)
    assert progress.is_hopeless


def test_clicks_that_change_nothing_but_a_drawing_are_progress_and_waiting_for_it_is_not():
    clicking, waiting = Progress(), Progress()
    for number in range(8):
        picture = Screenshot(b"", "image/jpeg", 10, 10, bytes([30 * number]) * 640)
        for progress, tried in ((clicking, step(index=3)), (waiting, step(name="wait"))):
            assert tried.observation is not None
            tried.observation = replace(tried.observation, screenshot=picture)
            progress.note(tried)
    assert not clicking.is_stuck
    assert waiting.is_hopeless


def test_what_failed_five_times_is_barred_on_its_page_until_something_works():
    progress = Progress()
    for _ in range(5):
        progress.note(step(status=NO_EFFECT, index=3))
    assert progress.is_barred(action("click", index=3), "http://a/")
    assert not progress.is_barred(action("click", index=4), "http://a/")
    assert not progress.is_barred(action("click", index=3), "http://b/")
    progress.note(step("another", index=4))
    assert not progress.is_barred(action("click", index=3), "http://a/")


def test_the_answer_is_never_barred():
    progress = Progress()
    for _ in range(6):
        progress.note(step(name="done", status=FAILED, text="{}"))
    assert not progress.is_barred(action("done", text="{}"), "http://a/")


def test_what_did_not_help_is_named():
    progress = Progress()
    for _ in range(3):
        progress.note(step(status=NO_EFFECT, index=3))
    assert progress.facts == ('click {"index":3}',)
