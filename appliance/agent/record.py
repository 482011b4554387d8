"""The permanent record of a session's runs: what the model was sent, what it replied, and what then happened.

One JSON array in one file, complete after every write: an entry is added by writing over the closing bracket, so the
cost of a step does not grow with the steps before it. Each entry is one line, so that a torn end loses only itself.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from appliance.errors import MachineFault
from appliance.events import ActionCall, TokenCount
from appliance.words import Ending, FailureKind, ReceiptStatus

_CLOSING = b"\n]\n"


class Entry(msgspec.Struct, frozen=True, tag_field="entry", kw_only=True, omit_defaults=True):
    """What every entry has: when it was written, in seconds since 1970."""

    at: float = msgspec.field(default_factory=time.time)


class RunOpened(Entry, frozen=True, tag="run_opened"):
    """A run begins."""

    task: str
    model: str
    max_steps: int
    timeout: float
    output_schema: dict[str, Any] | None = None


class StepAsked(Entry, frozen=True, tag="step_asked"):
    """The model is about to be asked: the exact text of the request, and the page it shows."""

    step: int
    request: str
    url: str
    title: str
    fingerprint: str
    screenshot: str | None = None
    observe_ms: int = 0


class StepAnswered(Entry, frozen=True, tag="step_answered"):
    """The model has replied and its actions are about to run; `rejected` are replies that could not be used."""

    step: int
    reply: str
    calls: list[ActionCall]
    tokens: TokenCount
    model: str
    think_ms: int
    rejected: list[str] = []


class RecordedReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one action did; `carried` is the long text that was shown to the model in the next step."""

    call_id: str
    status: ReceiptStatus
    text: str
    url: str = ""
    duration_ms: int = 0
    carried: str | None = None


class StepClosed(Entry, frozen=True, tag="step_closed"):
    """The step is over: the receipts there are, all tokens of the step, and what cut it short, if anything did."""

    step: int
    receipts: list[RecordedReceipt]
    tokens: TokenCount
    trouble: str | None = None


class RunClosed(Entry, frozen=True, tag="run_closed"):
    """How the run ended."""

    ending: Ending
    is_successful: bool
    summary: str
    steps: int
    output: Any = None
    failure: FailureKind | None = None
    status_code: int | None = None


AnyEntry = RunOpened | StepAsked | StepAnswered | StepClosed | RunClosed

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEntry)


@dataclass(frozen=True)
class RecordedStep:
    """One step as far as it came: without `answered` the model never replied, without `closed` it was interrupted."""

    asked: StepAsked
    answered: StepAnswered | None = None
    closed: StepClosed | None = None


@dataclass(frozen=True)
class RecordedRun:
    """One run as far as it came; without `closed` it was interrupted."""

    opened: RunOpened
    steps: tuple[RecordedStep, ...] = ()
    closed: RunClosed | None = None


class Record:
    """Writes the record at `path`, after what earlier runs of the session have left there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, entry: AnyEntry) -> None:
        """Add one entry; when this returns, the file is whole again. Raises MachineFault when the disk refuses it."""
        line = _encoder.encode(entry)
        try:
            with self._path.open("r+b" if self._path.exists() else "w+b") as file:
                end = _find_end(file)
                file.seek(end)
                file.write((b",\n" if end else b"[\n") + line + _CLOSING)
                file.truncate()
        except OSError as error:
            raise MachineFault(f"The record of the run cannot be written ({error.strerror}); make room.") from error


def load(path: Path) -> tuple[RecordedRun, ...]:
    """Return the runs of a record, oldest first; an end torn by a crash is left out.

    Raises FileNotFoundError when there is no record and msgspec.ValidationError for a file that is something else.
    """
    runs: list[RecordedRun] = []
    for line in path.read_bytes().splitlines():
        text = line.strip().removesuffix(b",")
        if text in (b"", b"[", b"]"):
            continue
        try:
            entry = _decoder.decode(text)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            break
        _place(runs, entry)
    return tuple(runs)


def _place(runs: list[RecordedRun], entry: AnyEntry) -> None:
    """Put an entry where it belongs in the newest run."""
    if isinstance(entry, RunOpened):
        runs.append(RecordedRun(entry))
        return
    if not runs:
        return
    run = runs[-1]
    steps = run.steps
    match entry:
        case StepAsked():
            steps = (*steps, RecordedStep(entry))
        case StepAnswered():
            steps = (*steps[:-1], RecordedStep(steps[-1].asked, entry))
        case StepClosed():
            steps = (*steps[:-1], RecordedStep(steps[-1].asked, steps[-1].answered, entry))
        case RunClosed():
            pass
    runs[-1] = RecordedRun(run.opened, steps, entry if isinstance(entry, RunClosed) else None)


def _find_end(file: BinaryIO) -> int:
    """Return where the next entry goes: before the closing bracket, after the last whole entry, 0 in a new file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - len(_CLOSING)))
    if file.read() == _CLOSING:
        return size - len(_CLOSING)
    file.seek(0)
    return max(0, file.read().rfind(b",\n"))
