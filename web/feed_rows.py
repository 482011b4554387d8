"""Arranges a session's events into the rows that a person reads; page and live feed render the same rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from appliance.events import (
    ActionCall,
    ActionFinished,
    FeedEvent,
    GoalStated,
    Notice,
    Reviewed,
    RunFinished,
    RunQueued,
    RunStarted,
    StepPlanned,
    TaskGiven,
)
from appliance.persistence.records import EventRecord

Kind = Literal["task", "queued", "started", "step", "receipt", "notice", "finished", "goal", "reviewed"]

_KINDS: dict[type[FeedEvent], Kind] = {
    TaskGiven: "task",
    RunQueued: "queued",
    RunStarted: "started",
    StepPlanned: "step",
    ActionFinished: "receipt",
    Notice: "notice",
    RunFinished: "finished",
    GoalStated: "goal",
    Reviewed: "reviewed",
}
_SHORT = 48


@dataclass(frozen=True)
class CallLine:
    """One action of a step: what was asked for, and the receipt once it is there."""

    call: ActionCall
    receipt: ActionFinished | None = None

    @property
    def asked(self) -> str:
        """The arguments in one short line."""
        return describe_arguments(self.call)


@dataclass(frozen=True)
class Row:
    """One entry of the feed; `kind` names the partial that renders it, `calls` belong to a step."""

    kind: Kind
    sequence: int
    at: datetime
    event: FeedEvent
    calls: tuple[CallLine, ...] = ()

    @property
    def step(self) -> StepPlanned:
        """The event of a row of the kind "step"."""
        assert isinstance(self.event, StepPlanned)
        return self.event


def arrange(records: Sequence[EventRecord]) -> tuple[Row, ...]:
    """Return the rows of a stretch of events, each receipt inside its step where that is part of the stretch."""
    receipts = {record.event.call_id: record.event for record in records if isinstance(record.event, ActionFinished)}
    planned = {
        call.call_id for record in records if isinstance(record.event, StepPlanned) for call in record.event.calls
    }
    return tuple(
        _make_row(record, receipts)
        for record in records
        if not (isinstance(record.event, ActionFinished) and record.event.call_id in planned)
    )


def make_row(record: EventRecord) -> Row:
    """Return the row of one event as it arrives."""
    return _make_row(record, {})


def _make_row(record: EventRecord, receipts: dict[str, ActionFinished]) -> Row:
    event = record.event
    calls: Iterable[ActionCall] = event.calls if isinstance(event, StepPlanned) else ()
    lines = tuple(CallLine(call, receipts.get(call.call_id)) for call in calls)
    return Row(_KINDS[type(event)], record.sequence, record.created_at, event, lines)


def describe_arguments(call: ActionCall) -> str:
    """Return an action's arguments in one short line: the telling one first, without their names."""
    telling = ("url", "text", "query", "keys", "pattern", "selector", "file_name", "path")
    values = [call.arguments[name] for name in telling if name in call.arguments]
    said = " ".join(" ".join(str(value).split()) for value in values) if values else ""
    if not said and "index" in call.arguments:
        said = f"element {call.arguments['index']}"
    return said if len(said) <= _SHORT else f"{said[: _SHORT - 1]}…"
