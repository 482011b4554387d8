"""Appends to feeds and reads stretches of them; a feed's order is its sequence numbers, never its times."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, bindparam, func, insert, select

from appliance.errors import RequestRefused
from appliance.events import FeedEvent, decode_event, encode_event
from appliance.persistence.columns import utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.prepared import Prepared
from appliance.persistence.records import EventPage, EventRecord
from appliance.persistence.tables import events
from appliance.persistence.transaction import Transaction

_LAST = select(func.coalesce(func.max(events.c.sequence), 0)).where(events.c.session_id == bindparam("of"))
_NEW = Prepared(
    insert(events).values(sequence=_LAST.scalar_subquery() + 1).returning(events.c.sequence),
    *("session_id", "id", "run_id", "created_at", "body"),
)


async def append_event(
    transaction: Transaction, session_id: UUID, run_id: UUID | None, event: FeedEvent
) -> EventRecord:
    """Write the event as the newest of the session's feed and return it with its number."""
    event_id, now = new_id(), utc_now()
    values = {
        "of": session_id,
        "session_id": session_id,
        "id": event_id,
        "run_id": run_id,
        "created_at": now,
        "body": encode_event(event),
    }
    sequence: int = await transaction.scalar(_NEW, values)
    return EventRecord(event_id, session_id, run_id, sequence, now, event)


async def read_events(
    transaction: Transaction,
    session_id: UUID,
    *,
    after: UUID | None = None,
    before: UUID | None = None,
    limit: int = 100,
) -> EventPage:
    """Return up to `limit` events, oldest first: those that follow `after`, those right before `before`, or the newest.

    Raises RequestRefused when both ends are given, or an event that the session does not have.
    """
    if after is not None and before is not None:
        raise RequestRefused("Give either after or before, not both.")
    if after is not None:
        first = await _find_sequence(transaction, session_id, after, "after") + 1
        return await read_events_from(transaction, session_id, first, limit=limit)
    end = None if before is None else await _find_sequence(transaction, session_id, before, "before")
    return await _read_backwards(transaction, session_id, end, limit)


async def read_events_from(transaction: Transaction, session_id: UUID, first: int, *, limit: int = 100) -> EventPage:
    """Return up to `limit` events whose sequence number is `first` or higher, oldest first."""
    following = select(events).where(events.c.session_id == session_id, events.c.sequence >= first)
    rows = (await transaction.execute(following.order_by(events.c.sequence).limit(limit + 1))).rows
    return EventPage(tuple(_to_record(row) for row in rows[:limit]), len(rows) > limit)


async def _read_backwards(transaction: Transaction, session_id: UUID, end: int | None, limit: int) -> EventPage:
    earlier = select(events).where(events.c.session_id == session_id)
    if end is not None:
        earlier = earlier.where(events.c.sequence < end)
    rows = (await transaction.execute(earlier.order_by(events.c.sequence.desc()).limit(limit + 1))).rows
    return EventPage(tuple(_to_record(row) for row in reversed(rows[:limit])), len(rows) > limit)


async def _find_sequence(transaction: Transaction, session_id: UUID, event_id: UUID, name: str) -> int:
    own = select(events.c.sequence).where(events.c.session_id == session_id, events.c.id == event_id)
    sequence = await transaction.scalar(own)
    if sequence is None:
        raise RequestRefused(f"{name} names no message of this session; use an id from its message list.")
    return sequence


def _to_record(row: Row[Any]) -> EventRecord:
    return EventRecord(
        id=row.id,
        session_id=row.session_id,
        run_id=row.run_id,
        sequence=row.sequence,
        created_at=row.created_at,
        event=decode_event(row.body),
    )
