from typing import Any

import pytest

from appliance.agent.record import RecordedReceipt, RunOpened, StepAnswered, StepAsked, StepClosed
from appliance.agent.recorded import RecordedRun, RecordedStep
from appliance.agent.replay_plan import Intent, plan_replay
from appliance.browser.matching import ElementKeys
from appliance.events import ActionCall, TokenCount
from appliance.words import ReceiptStatus

OK, NO_EFFECT, FAILED = ReceiptStatus.OK, ReceiptStatus.NO_EFFECT, ReceiptStatus.FAILED
DIALOG = ReceiptStatus.NEEDS_DECISION
MENU = ElementKeys(tag="button", name="More", opens=True)
ITEM = ElementKeys(tag="button", name="Help")


def recorded(*actions: tuple[str, dict[str, Any], ReceiptStatus | None, ElementKeys | None]) -> RecordedRun:
    """Return a run with one action a step."""
    steps: list[RecordedStep] = []
    for number, (name, arguments, status, keys) in enumerate(actions, start=1):
        call = ActionCall(f"c{number}", name, arguments)
        receipts = [
            RecordedReceipt(call_id=call.call_id, status=status, text="Done.", targets=[keys] if keys else [])
            for status in [status]
            if status is not None
        ]
        steps.append(
            RecordedStep(
                StepAsked(step=number, request="", url="http://a/", title="", fingerprint=""),
                StepAnswered(step=number, reply="", calls=[call], tokens=TokenCount(), model="m", think_ms=0),
                StepClosed(step=number, receipts=receipts, tokens=TokenCount()) if receipts else None,
            )
        )
    return RecordedRun(RunOpened(task="t", model="m", max_steps=9, timeout=9.0), tuple(steps))


def intents(run: RecordedRun, *, with_model: bool = False) -> list[Intent]:
    return [intent for step in plan_replay(run, with_model=with_model) for intent in step.intents]


def names(run: RecordedRun, *, with_model: bool = False) -> list[str]:
    return [intent.call.name for intent in intents(run, with_model=with_model)]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("click", FAILED),
        ("click", ReceiptStatus.BLOCKED),
        ("click", ReceiptStatus.SKIPPED),
        ("click", None),
        ("screenshot", OK),
        ("look", OK),
        ("extract", OK),
        ("done", OK),
    ],
)
def test_what_failed_only_looked_or_ended_the_run_is_left_out(name: str, status: ReceiptStatus | None):
    run = recorded(("navigate", {"url": "http://a/"}, OK, None), (name, {}, status, None))
    assert names(run) == ["navigate"]


def test_an_extract_is_planned_when_a_model_is_named():
    assert names(recorded(("extract", {"query": "q"}, OK, None)), with_model=True) == ["extract"]


def test_a_try_without_effect_is_left_out_where_the_same_worked():
    first, again = ("click", {"index": 3}, NO_EFFECT, ITEM), ("click", {"index": 3}, OK, ITEM)
    assert [intent.receipt.status for intent in intents(recorded(first, again)) if intent.receipt] == [OK]
    assert [intent.receipt.status for intent in intents(recorded(again, first)) if intent.receipt] == [OK]


def test_the_same_action_that_worked_each_time_is_done_each_time():
    again = ("click", {"index": 3}, OK, ITEM)
    assert names(recorded(again, again, again)) == ["click"] * 3


def test_what_a_dialog_kept_from_being_done_is_left_out():
    run = recorded(
        ("click", {"index": 3}, DIALOG, ITEM),
        ("click", {"index": 4}, DIALOG, None),
        ("answer_dialog", {"accept": True}, OK, None),
        ("click", {"index": 5}, DIALOG, ITEM),
    )
    assert [intent.call.call_id for intent in intents(run)] == ["c1", "c3", "c4"]


def test_an_action_knows_what_opened_the_menu_before_it():
    run = recorded(("click", {"index": 1}, OK, MENU), ("click", {"index": 2}, OK, ITEM))
    opener = intents(run)[1].opener
    assert opener is not None
    assert opener.targets == (MENU,)
    assert intents(run)[0].opener is None
