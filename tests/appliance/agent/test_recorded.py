from pathlib import Path
from typing import Any

import pytest

from appliance.agent.record import (
    AnyEntry,
    Noted,
    Record,
    RecordedReceipt,
    RunClosed,
    RunOpened,
    StepAnswered,
    StepAsked,
    StepClosed,
)
from appliance.agent.recorded import RecordedRun, load
from appliance.events import ActionCall, TokenCount
from appliance.words import Ending, FailureKind, ReceiptStatus

SCHEMA = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}


def opened(schema: dict[str, Any] | None = None) -> RunOpened:
    return RunOpened(at=100.0, task="Find the price", model="m", max_steps=10, timeout=60.0, output_schema=schema)


def asked(step: int, url: str = "http://a/") -> StepAsked:
    return StepAsked(
        at=100.0 + step, step=step, request="q", url=url, title="", fingerprint="f", screenshot=f"{step}.jpg"
    )


def answered(step: int, *calls: tuple[str, dict[str, Any]]) -> StepAnswered:
    named = [ActionCall(f"call_{step}_{number}", name, given) for number, (name, given) in enumerate(calls)]
    return StepAnswered(
        step=step,
        reply="{}",
        calls=named,
        tokens=TokenCount(5, 0, 0, 2),
        model="m",
        think_ms=4,
        move="Open it.",
        at=104.0,
    )


def closed(step: int, *results: tuple[ReceiptStatus, str], trouble: str | None = None) -> StepClosed:
    receipts = [
        RecordedReceipt(call_id=f"call_{step}_{number}", status=status, text=text, url=f"http://b/{step}")
        for number, (status, text) in enumerate(results)
    ]
    return StepClosed(step=step, receipts=receipts, tokens=TokenCount(6, 0, 0, 3), trouble=trouble, at=107.5)


def ended(ending: Ending = Ending.DONE, **values: Any) -> RunClosed:
    base: dict[str, Any] = {"is_successful": ending is Ending.DONE, "summary": "Over.", "steps": 1, "at": 108.0}
    return RunClosed(ending=ending, **{**base, **values})


def of(tmp_path: Path, *entries: AnyEntry) -> RecordedRun:
    for entry in entries:
        Record(tmp_path / "history.json").append(entry)
    return load(tmp_path / "history.json")[-1]


def test_the_final_result_is_the_answer_that_was_handed_in(tmp_path: Path):
    run = of(
        tmp_path,
        opened(),
        asked(1),
        answered(1, ("done", {"text": "4 euros"})),
        closed(1, (ReceiptStatus.OK, "The agent handed in its answer.")),
        ended(output="4 euros"),
    )
    assert (run.is_done, run.is_successful, run.final_result) == (True, True, "4 euros")


def test_what_the_last_action_said_is_no_result(tmp_path: Path):
    run = of(
        tmp_path,
        opened(),
        asked(1),
        answered(1, ("wait", {"seconds": 3})),
        closed(1, (ReceiptStatus.OK, "Waited 3.0 s.")),
        ended(Ending.STEPS_SPENT, failure=FailureKind.AGENT_FAILURE),
    )
    assert (run.is_done, run.is_successful, run.final_result) == (False, None, None)


def test_a_partial_result_is_not_taken_for_the_answer(tmp_path: Path):
    run = of(tmp_path, opened(SCHEMA), ended(Ending.STEPS_SPENT, output={"price": 3}))
    assert (run.final_result, run.structured_output, run.partial_result) == (None, None, {"price": 3})


def test_an_answer_that_was_refused_is_no_result(tmp_path: Path):
    run = of(
        tmp_path,
        opened(),
        asked(1),
        answered(1, ("done", {"text": "no"})),
        closed(1, (ReceiptStatus.FAILED, "done was not accepted.")),
        ended(Ending.FAILED),
    )
    assert (run.is_done, run.final_result) == (False, None)


def test_an_answer_handed_in_right_before_a_crash_is_found(tmp_path: Path):
    run = of(
        tmp_path,
        opened(SCHEMA),
        asked(1),
        answered(1, ("done", {"text": '{"price": 4}'})),
        closed(1, (ReceiptStatus.OK, "The agent handed in its answer.")),
    )
    assert (run.is_done, run.is_successful, run.structured_output) == (True, None, {"price": 4})


@pytest.mark.parametrize("output", [{"price": 4}, '{"price": 4}'])
def test_the_structured_output_is_the_answer_in_the_form_of_the_schema(tmp_path: Path, output: Any):
    assert of(tmp_path, opened(SCHEMA), ended(output=output)).structured_output == {"price": 4}


@pytest.mark.parametrize("output", [{"price": "4"}, "four", None])
def test_an_answer_that_does_not_fit_is_no_structured_output(tmp_path: Path, output: Any):
    assert of(tmp_path, opened(SCHEMA), ended(output=output)).structured_output is None


def test_the_readers_tell_addresses_actions_errors_and_summaries(tmp_path: Path):
    run = of(
        tmp_path,
        opened(),
        asked(1),
        answered(1, ("navigate", {"url": "http://b/1"}), ("click", {"index": 3})),
        closed(1, (ReceiptStatus.OK, "Opened b."), (ReceiptStatus.BLOCKED, "It is covered.")),
        asked(2, "http://b/1"),
        answered(2, ("wait", {})),
        closed(2, trouble="The step was cut off."),
        Noted(code="repeating", text="The same was tried 3 times."),
    )
    assert tuple(call.name for call, _ in run.actions) == ("navigate", "click", "wait")
    assert run.urls == ("http://a/", "http://b/1")
    assert run.errors == ("It is covered.", "The step was cut off.")
    assert tuple(step.summary for step in run.steps) == (
        "Step 1: Open it. Opened b. It is covered.",
        "Step 2: Open it. wait was interrupted.",
    )
    assert [note.code for note in run.notes] == ["repeating"]


def test_seconds_tokens_and_cost_are_those_of_the_run(tmp_path: Path):
    run = of(tmp_path, opened(), asked(1), answered(1, ("wait", {})), closed(1))
    assert (run.seconds, run.tokens, run.cost_usd) == (7.5, TokenCount(6, 0, 0, 3), None)
    run = of(tmp_path, ended(tokens=TokenCount(9, 1, 0, 4), cost_usd="0.002"))
    assert (run.seconds, run.tokens, run.cost_usd) == (8.0, TokenCount(9, 1, 0, 4), "0.002")


def test_pictures_that_are_gone_or_lie_elsewhere_are_left_out(tmp_path: Path):
    (tmp_path / "2.jpg").write_bytes(b"picture")
    escaping = StepAsked(step=3, request="", url="", title="", fingerprint="", screenshot="../secret.jpg")
    run = of(tmp_path, opened(), asked(1), asked(2), escaping)
    assert [step.picture(tmp_path) for step in run.steps] == [None, tmp_path / "2.jpg", None]


def test_a_second_run_stands_behind_the_first(tmp_path: Path):
    of(tmp_path, opened(), ended(), opened(), asked(1))
    first, second = load(tmp_path / "history.json")
    assert first.closed is not None
    assert second.closed is None
    assert second.steps[0].answered is None


def test_entries_that_belong_to_no_step_are_left_out(tmp_path: Path):
    run = of(tmp_path, answered(1), opened(), answered(1), closed(1), asked(2), closed(3))
    assert [step.asked.step for step in run.steps] == [2]
    assert run.steps[0].closed is None
