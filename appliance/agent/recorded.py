"""What a permanent record says: its runs as far as each came, and what can be read from them afterwards."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from appliance.agent.record import (
    AnyEntry,
    Noted,
    RecordedReceipt,
    Replayed,
    RunClosed,
    RunOpened,
    StepAnswered,
    StepAsked,
    StepClosed,
    read_entries,
)
from appliance.events import ActionCall, TokenCount
from appliance.words import Ending, ReceiptStatus

_TROUBLE = (ReceiptStatus.FAILED, ReceiptStatus.BLOCKED)


@dataclass(frozen=True)
class RecordedStep:
    """One step as far as it came: without `answered` the model never replied, without `closed` it was interrupted."""

    asked: StepAsked
    answered: StepAnswered | None = None
    closed: StepClosed | None = None

    @property
    def actions(self) -> tuple[tuple[ActionCall, RecordedReceipt | None], ...]:
        """The actions that were asked for, each with what came of it, None where nothing was written down."""
        calls = self.answered.calls if self.answered is not None else []
        receipts = {receipt.call_id: receipt for receipt in self.closed.receipts} if self.closed is not None else {}
        return tuple((call, receipts.get(call.call_id)) for call in calls)

    @property
    def tokens(self) -> TokenCount:
        """The tokens of the step as far as they were written down."""
        part = self.closed or self.answered
        return part.tokens if part is not None else TokenCount()

    def picture(self, folder: Path) -> Path | None:
        """Return the path of the step's screenshot if it is still in the folder."""
        name = self.asked.screenshot
        path = folder / name if name else folder
        return path if name and path.parent == folder and path.is_file() and not path.is_symlink() else None

    @property
    def summary(self) -> str:
        """One line: what the agent was about to do, and what came of it."""
        if self.answered is None:
            return f"Step {self.asked.step}: the model did not reply."
        move = self.answered.move or ", ".join(call.name for call in self.answered.calls)
        results = [receipt.text if receipt else f"{call.name} was interrupted." for call, receipt in self.actions]
        return " ".join([f"Step {self.asked.step}: {move}", *results])


@dataclass(frozen=True)
class RecordedRun:
    """One run as far as it came; without `closed` it was interrupted. `replayed` tells what came of a replay."""

    opened: RunOpened
    steps: tuple[RecordedStep, ...] = ()
    closed: RunClosed | None = None
    notes: tuple[Noted, ...] = ()
    replayed: Replayed | None = None

    @property
    def is_done(self) -> bool:
        """Whether the agent handed in an answer that was accepted."""
        return self._accepted is not None or (self.closed is not None and self.closed.ending is Ending.DONE)

    @property
    def is_successful(self) -> bool | None:
        """Whether the answer was delivered in the form asked for; None when there was none."""
        if not self.is_done:
            return None
        return self.closed.is_successful if self.closed is not None else None

    @property
    def final_result(self) -> Any:
        """The answer that was handed in, as text or JSON value; never what some other action said. None without one."""
        if not self.is_done:
            return None
        if self.closed is not None:
            return self.closed.output
        return self._accepted.arguments.get("text") if self._accepted is not None else None

    @property
    def partial_result(self) -> Any:
        """What a run that did not hand in an answer left behind of one."""
        return self.closed.output if self.closed is not None and not self.is_done else None

    @property
    def structured_output(self) -> Any:
        """The answer as the JSON value that fits the run's schema; None without a schema, or when it does not fit."""
        schema, answer = self.opened.output_schema, self.final_result
        if schema is None or answer is None:
            return None
        import jsonschema_rs  # noqa: PLC0415 - a compiled library that only readers of structured answers need

        try:
            value = json.loads(answer) if isinstance(answer, str) else answer
            return value if jsonschema_rs.validator_for(schema, offline=True).is_valid(value) else None
        except (ValueError, jsonschema_rs.ValidationError):
            return None

    @property
    def actions(self) -> tuple[tuple[ActionCall, RecordedReceipt | None], ...]:
        """Every action of the run, in order."""
        return tuple(pair for step in self.steps for pair in step.actions)

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses the tab was at, in order, none twice in a row."""
        seen: list[str] = []
        for step in self.steps:
            receipts = step.closed.receipts if step.closed is not None else []
            for url in (step.asked.url, *(receipt.url for receipt in receipts)):
                if url and (not seen or seen[-1] != url):
                    seen.append(url)
        return tuple(seen)

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong, in order: steps cut short, actions that failed or were refused."""
        wrong: list[str] = []
        for step in self.steps:
            wrong += [receipt.text for _, receipt in step.actions if receipt and receipt.status in _TROUBLE]
            if step.closed is not None and step.closed.trouble:
                wrong.append(step.closed.trouble)
        return tuple(wrong)

    @property
    def seconds(self) -> float:
        """How long the run took, as far as it was written down."""
        return max(entry.at for entry in self.entries) - self.opened.at

    @property
    def tokens(self) -> TokenCount:
        """The tokens of the run."""
        told = sum((step.tokens for step in self.steps), TokenCount())
        return self.closed.tokens if self.closed is not None and self.closed.tokens != TokenCount() else told

    @property
    def cost_usd(self) -> str | None:
        """What the run cost in US dollars, in decimal notation; None when that is not known."""
        return self.closed.cost_usd if self.closed is not None else None

    @property
    def entries(self) -> tuple[AnyEntry, ...]:
        """The entries of the run in the order in which they were written."""
        parts: list[AnyEntry | None] = [self.opened, *self.notes, self.replayed, self.closed]
        for step in self.steps:
            parts += [step.asked, step.answered, step.closed]
        # Entries of one run are written one after the other; the order holds for those of one moment.
        return tuple(sorted((part for part in parts if part is not None), key=lambda part: part.at))

    @property
    def _accepted(self) -> ActionCall | None:
        """The call that handed in the answer, if one was accepted."""
        done = [
            call
            for call, receipt in self.actions
            if call.name == "done" and receipt and receipt.status is ReceiptStatus.OK
        ]
        return done[-1] if done else None


def load(path: Path) -> tuple[RecordedRun, ...]:
    """Return the runs of a record, oldest first; an end torn by a crash is left out.

    Raises FileNotFoundError when there is no record.
    """
    runs: list[RecordedRun] = []
    for entry in read_entries(path):
        if isinstance(entry, RunOpened):
            runs.append(RecordedRun(entry))
        elif runs:
            runs[-1] = _with(runs[-1], entry)
    return tuple(runs)


def _with(run: RecordedRun, entry: AnyEntry) -> RecordedRun:
    """Return the run with one more entry; what belongs to no step that was begun is left out."""
    last = run.steps[-1] if run.steps else None
    changes: dict[str, Any] = {}
    match entry:
        case StepAsked() if last is not None and last.asked.step == entry.step:
            # Refused as too long and asked again, shorter: the request that was answered counts.
            changes["steps"] = (*run.steps[:-1], RecordedStep(entry))
        case StepAsked():
            changes["steps"] = (*run.steps, RecordedStep(entry))
        case StepAnswered() if last is not None:
            changes["steps"] = (*run.steps[:-1], replace(last, answered=entry))
        case StepClosed() if last is not None and last.asked.step == entry.step:
            changes["steps"] = (*run.steps[:-1], replace(last, closed=entry))
        case RunClosed():
            changes["closed"] = entry
        case Replayed():
            changes["replayed"] = entry
        case Noted():
            changes["notes"] = (*run.notes, entry)
        case _:
            pass
    return replace(run, **changes)
