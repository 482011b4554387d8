"""The permanent record of a session's runs: what the model was sent, what it replied, and what then happened.

One JSON array in one file, complete after every write: an entry is added by writing over the closing bracket, so the
cost of a step does not grow with the steps before it. Each entry is one line, so that a torn end loses only itself.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from appliance.browser.matching import ElementKeys
from appliance.errors import MachineFault
from appliance.events import ActionCall, TokenCount
from appliance.words import Completion, Ending, FailureKind, ReceiptStatus

_CLOSING = b"\n]\n"


class Entry(msgspec.Struct, frozen=True, tag_field="entry", kw_only=True, omit_defaults=True):
    """What every entry has: when it was written, in seconds since 1970."""

    at: float = msgspec.field(default_factory=time.time)


class RunOpened(Entry, frozen=True, tag="run_opened"):
    """The run of that name begins; `replays` names the run whose record is done again, if one is."""

    task: str
    model: str
    max_steps: int
    timeout: float
    output_schema: dict[str, Any] | None = None
    run: str = ""
    replays: str | None = None


class StepAsked(Entry, frozen=True, tag="step_asked"):
    """The model is about to be asked: the exact text of the request, and the page it shows.

    `tabs` are the names of the open tabs, oldest first, when there are several.
    """

    step: int
    request: str
    url: str
    title: str
    fingerprint: str
    screenshot: str | None = None
    observe_ms: int = 0
    tabs: list[str] = []


class StepAnswered(Entry, frozen=True, tag="step_answered"):
    """The model has replied and its actions are about to run; `rejected` are replies that could not be used.

    `see`, `plan` and `move` are the three sentences of the reply.
    """

    step: int
    reply: str
    calls: list[ActionCall]
    tokens: TokenCount
    model: str
    think_ms: int
    rejected: list[str] = []
    see: str = ""
    plan: str = ""
    move: str = ""


class RecordedReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one action did; `carried` is the long text that was shown to the model in the next step.

    `targets` are the keys of the elements it was done to, in the order of its parameters, taken right before.
    """

    call_id: str
    status: ReceiptStatus
    text: str
    url: str = ""
    duration_ms: int = 0
    carried: str | None = None
    targets: list[ElementKeys] = []


class StepClosed(Entry, frozen=True, tag="step_closed"):
    """The step is over: the receipts there are, all tokens of the step, and what cut it short, if anything did."""

    step: int
    receipts: list[RecordedReceipt]
    tokens: TokenCount
    trouble: str | None = None


class Noted(Entry, frozen=True, tag="noted"):
    """Something of the run beside its steps that a person was told; `code` is that of the notice."""

    code: str
    text: str


class RunClosed(Entry, frozen=True, tag="run_closed"):
    """How the run ended.

    `cost_usd` is what it cost in US dollars, in decimal notation, None where that is unknown; `provenance` says where
    the values of its output were read, by JSON pointer.
    """

    ending: Ending
    is_successful: bool
    summary: str
    steps: int
    output: Any = None
    failure: FailureKind | None = None
    status_code: int | None = None
    tokens: TokenCount = TokenCount()
    cost_usd: str | None = None
    provenance: dict[str, dict[str, Any]] | None = None


class ReplayedAction(msgspec.Struct, frozen=True, omit_defaults=True):
    """One action of a replay: `state` is held (it went as recorded), differs, failed, skipped or not_reached.

    `level` tells by what its element was known again; `then` and `now` are what the receipts say; `why` is a sentence.
    """

    call_id: str
    name: str
    state: Literal["held", "differs", "failed", "skipped", "not_reached"]
    level: str = ""
    then: str = ""
    now: str = ""
    why: str = ""


class Replayed(Entry, frozen=True, tag="replayed"):
    """What came of a replay as a whole, and of each recorded action."""

    completion: Completion
    summary: str
    actions: list[ReplayedAction]


AnyEntry = RunOpened | StepAsked | StepAnswered | StepClosed | Noted | Replayed | RunClosed

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEntry)


class Record:
    """Writes the record at `path`, after what earlier runs of the session have left there.

    `clean` is what every entry passes through before it is written.
    """

    def __init__(self, path: Path, clean: Callable[[AnyEntry], AnyEntry] | None = None) -> None:
        self._path = path
        self._clean = clean

    def cleaned_by(self, clean: Callable[[AnyEntry], AnyEntry]) -> "Record":
        """Return a writer of the same record whose entries pass through `clean`."""
        return Record(self._path, clean)

    def append(self, entry: AnyEntry) -> None:
        """Add one entry; when this returns, the file is whole again. Raises MachineFault when the disk refuses it."""
        line = _encoder.encode(entry if self._clean is None else self._clean(entry))
        try:
            with self._path.open("r+b" if self._path.exists() else "w+b") as file:
                end = _find_end(file)
                file.seek(end)
                file.write((b",\n" if end else b"[\n") + line + _CLOSING)
                file.truncate()
        except OSError as error:
            raise MachineFault(f"The record of the run cannot be written ({error.strerror}); make room.") from error


def read_entries(path: Path) -> tuple[AnyEntry, ...]:
    """Return the entries of a record, oldest first; an end torn by a crash is left out, and so is what is no entry.

    Raises FileNotFoundError when there is no record.
    """
    entries: list[AnyEntry] = []
    for line in path.read_bytes().split(b"\n"):
        text = line.removesuffix(b",")
        if text in (b"", b"[", b"]"):
            continue
        try:
            entries.append(_decoder.decode(text))
        except (msgspec.ValidationError, RecursionError):
            # Of another version, or by another hand: the rest can be read all the same.
            continue
        except msgspec.DecodeError:
            break
    return tuple(entries)


def encode_entries(entries: tuple[AnyEntry, ...]) -> bytes:
    """Return the entries as the JSON array that a whole record is."""
    return b"[\n" + b",\n".join(map(_encoder.encode, entries)) + _CLOSING if entries else b"[]\n"


def _is_whole(text: bytes) -> bool:
    """Tell whether a line is a JSON document, of whatever form, and not torn."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _find_end(file: BinaryIO) -> int:
    """Return where the next entry goes: before the closing bracket, after the last whole entry, 0 in a new file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - len(_CLOSING)))
    if file.read() == _CLOSING:
        return size - len(_CLOSING)
    file.seek(0)
    end = at = 0
    for line in file.read().split(b"\n"):
        text = line.removesuffix(b",")
        if text not in (b"", b"[", b"]") and _is_whole(text):
            end = at + len(text)
        at += len(line) + 1
    return end
