import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.agent.record import (
    AnyEntry,
    Record,
    RecordedReceipt,
    RunClosed,
    RunOpened,
    StepAnswered,
    StepAsked,
    StepClosed,
    encode_entries,
    read_entries,
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


WHOLE: tuple[AnyEntry, ...] = (opened("Größe 数\n"), asked(1), answered(1), closed(1), ended())


def test_a_record_reads_back_as_it_was_written(tmp_path: Path):
    for entry in WHOLE:
        Record(tmp_path / "history.json").append(entry)
    assert read_entries(tmp_path / "history.json") == WHOLE


def test_the_file_is_a_whole_json_array_after_every_entry(tmp_path: Path):
    record = Record(tmp_path / "history.json")
    for count, entry in enumerate(WHOLE, start=1):
        record.append(entry)
        assert len(json.loads((tmp_path / "history.json").read_text())) == count


def test_entries_encode_to_the_same_document_as_the_file(tmp_path: Path):
    for entry in WHOLE:
        Record(tmp_path / "history.json").append(entry)
    assert encode_entries(WHOLE) == (tmp_path / "history.json").read_bytes()
    assert json.loads(encode_entries(())) == []


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_record_torn_at_any_byte_keeps_its_whole_entries_and_is_written_on(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    path = tmp_path_factory.mktemp("torn") / "history.json"
    record = Record(path)
    for entry in WHOLE:
        record.append(entry)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:at])
    kept = read_entries(path)
    assert kept == WHOLE[: len(kept)]
    more = asked(9)
    record.append(more)
    assert read_entries(path) == (*kept, more)
    assert len(json.loads(path.read_text())) == len(kept) + 1


def test_only_the_entry_that_is_torn_is_lost(tmp_path: Path):
    path = tmp_path / "history.json"
    record = Record(path)
    for entry in WHOLE:
        record.append(entry)
    whole = path.read_bytes()
    ends = [at for at in range(len(whole) + 1) if len(read_entries(torn(path, whole, at))) == len(WHOLE)]
    # The closing bracket may be missing in any part, the last entry's own bytes may not.
    assert ends == list(range(len(whole) - len(b"\n]\n"), len(whole) + 1))


@pytest.mark.parametrize(
    "line", ["null", "[1, 2]", '{"entry":"of a later version","step":1}', '{"step":1}', "[" * 5000]
)
def test_what_is_no_entry_is_left_out_and_the_rest_read_and_written_on(tmp_path: Path, line: str):
    path = tmp_path / "history.json"
    record = Record(path)
    for entry in WHOLE:
        record.append(entry)
    whole = path.read_text()
    path.write_text(whole.replace("[\n", f"[\n{line},\n", 1))
    assert read_entries(path) == WHOLE
    more = asked(9)
    record.append(more)
    assert read_entries(path) == (*WHOLE, more)
    # Also where the end is torn and has to be looked for.
    path.write_text(path.read_text()[:-6])
    record.append(more)
    assert read_entries(path) == (*WHOLE, more)


def torn(path: Path, whole: bytes, at: int) -> Path:
    path.write_bytes(whole[:at])
    return path


def test_a_process_killed_between_the_phases_leaves_what_was_written(tmp_path: Path):
    for count in range(1, len(WHOLE) + 1):
        path = tmp_path / f"{count}.json"
        child = os.fork()
        if child == 0:
            for entry in WHOLE[:count]:
                Record(path).append(entry)
            os.kill(os.getpid(), 9)
        os.waitpid(child, 0)
        assert read_entries(path) == WHOLE[:count]
        assert len(json.loads(path.read_text())) == count


def test_an_append_reads_and_writes_the_same_after_many_entries(tmp_path: Path):
    path = tmp_path / "history.json"
    record = Record(path)
    record.append(opened())
    record.append(asked(1))
    small = path.stat().st_size
    for step in range(2, 2000):
        record.append(asked(step))
    with path.open("rb") as file:
        before = file.read()
    record.append(asked(2000))
    after = path.read_bytes()
    # Nothing but the closing bracket is written over.
    assert after.startswith(before[:-3])
    assert len(after) - len(before) < small
    assert len(read_entries(path)) == 2001


def test_a_record_that_cannot_be_written_is_a_fault_of_the_machine(tmp_path: Path):
    with pytest.raises(MachineFault, match="cannot be written"):
        Record(tmp_path / "missing" / "history.json").append(opened())
