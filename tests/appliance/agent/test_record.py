import json
from pathlib import Path

import pytest

from appliance.agent.record import (
    Record,
    RecordedReceipt,
    RunClosed,
    RunOpened,
    StepAnswered,
    StepAsked,
    StepClosed,
    load,
)
from appliance.errors import MachineFault
from appliance.events import ActionCall, TokenCount
from appliance.words import Ending, ReceiptStatus


def opened(task: str = "Find the price") -> RunOpened:
    return RunOpened(task=task, model="m", max_steps=10, timeout=60.0)


def asked(step: int) -> StepAsked:
    return StepAsked(step=step, request="the\nprompt", url="http://a/", title="A", fingerprint="f")


def answered(step: int) -> StepAnswered:
    call = ActionCall("call_1", "click", {"index": 3})
    return StepAnswered(step=step, reply="{}", calls=[call], tokens=TokenCount(5, 0, 0, 2), model="m", think_ms=4)


def closed(step: int) -> StepClosed:
    receipt = RecordedReceipt(call_id="call_1", status=ReceiptStatus.OK, text="Clicked.")
    return StepClosed(step=step, receipts=[receipt], tokens=TokenCount(5, 0, 0, 2))


def ended() -> RunClosed:
    return RunClosed(ending=Ending.DONE, is_successful=True, summary="Found.", steps=1, output={"price": 3})


def test_a_record_reads_back_as_it_was_written(tmp_path: Path):
    path = tmp_path / "history.json"
    for entry in (opened(), asked(1), answered(1), closed(1), ended()):
        Record(path).append(entry)
    (run,) = load(path)
    assert run.opened.task == "Find the price"
    assert run.steps[0].asked.request == "the\nprompt"
    assert run.steps[0].answered is not None
    assert run.steps[0].answered.calls[0].arguments == {"index": 3}
    assert run.steps[0].closed is not None
    assert run.steps[0].closed.receipts[0].text == "Clicked."
    assert run.closed is not None
    assert run.closed.output == {"price": 3}


def test_the_file_is_a_whole_json_array_after_every_entry(tmp_path: Path):
    record = Record(tmp_path / "history.json")
    for count, entry in enumerate((opened(), asked(1), answered(1), closed(1), ended()), start=1):
        record.append(entry)
        assert len(json.loads((tmp_path / "history.json").read_text())) == count


def test_a_second_run_stands_behind_the_first(tmp_path: Path):
    path = tmp_path / "history.json"
    for entry in (opened("One"), ended(), opened("Two"), asked(1)):
        Record(path).append(entry)
    first, second = load(path)
    assert (first.opened.task, second.opened.task) == ("One", "Two")
    assert second.closed is None
    assert second.steps[0].answered is None


def test_an_end_torn_by_a_crash_is_left_out_and_written_over(tmp_path: Path):
    path = tmp_path / "history.json"
    record = Record(path)
    for entry in (opened(), asked(1), answered(1)):
        record.append(entry)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert load(path)[0].steps[0].answered is None
    record.append(closed(1))
    assert load(path)[0].steps[0].closed is not None
    assert len(json.loads(path.read_text())) == 3


def test_an_entry_costs_the_same_after_many(tmp_path: Path):
    path = tmp_path / "history.json"
    record = Record(path)
    record.append(opened())
    for step in range(1, 300):
        record.append(asked(step))
    (run,) = load(path)
    assert [step.asked.step for step in run.steps] == list(range(1, 300))


def test_a_record_that_cannot_be_written_is_a_fault_of_the_machine(tmp_path: Path):
    with pytest.raises(MachineFault, match="cannot be written"):
        Record(tmp_path / "missing" / "history.json").append(opened())
