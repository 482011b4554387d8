"""Puts events into feeds: the row and what it changes about the session in one transaction, then the signal."""

from uuid import UUID

from appliance.events import ActionFinished, FeedEvent, StepPlanned, TokenCount
from appliance.feed.hub import Hub
from appliance.persistence.database import Database, Transaction
from appliance.persistence.events import append_event
from appliance.persistence.records import EventRecord, StepRecord
from appliance.persistence.sessions import SessionChanges, change_session
from appliance.persistence.steps import add_step, add_to_step


class Feed:
    """Appends to the feeds of all sessions."""

    def __init__(self, database: Database, hub: Hub) -> None:
        self._database = database
        self._hub = hub

    async def append(
        self, session_id: UUID, run_id: UUID | None, event: FeedEvent, changes: SessionChanges | None = None
    ) -> EventRecord:
        """Write the event with the session's changes, then signal; raises NotFound for a deleted session.

        A StepPlanned brings along what follows from it: the step's row, one more step and its tokens in the totals,
        the session's summary line and screenshot. Its price is not in the event: give it as `more_cost_usd`.
        The tokens and the cost of an ActionFinished are added to its step's row; for the totals give them as
        `more_tokens`, `more_cost_usd` and `more_services_usd`.
        """

        async def write(transaction: Transaction) -> EventRecord:
            return await write_event(transaction, session_id, run_id, event, changes)

        record = await self._database.writer.submit(write)
        self._hub.signal(session_id)
        return record


async def write_event(
    transaction: Transaction,
    session_id: UUID,
    run_id: UUID | None,
    event: FeedEvent,
    changes: SessionChanges | None = None,
) -> EventRecord:
    """Do what `Feed.append` does inside a transaction that also does other things; the caller signals afterwards."""
    record = await append_event(transaction, session_id, run_id, event)
    changes = changes or SessionChanges()
    if isinstance(event, StepPlanned) and run_id is not None:
        await add_step(transaction, _to_step(run_id, record, event, changes))
        changes = _count_step(event, changes)
    elif isinstance(event, ActionFinished) and run_id is not None and (event.tokens != TokenCount() or event.cost_usd):
        await add_to_step(transaction, run_id, event.step, event.tokens, changes.get("more_cost_usd"))
    await change_session(transaction, session_id, **changes)
    return record


def _count_step(event: StepPlanned, changes: SessionChanges) -> SessionChanges:
    counted: SessionChanges = {"last_step_summary": event.move, "more_steps": 1, **changes}
    counted["more_tokens"] = event.tokens + changes["more_tokens"] if "more_tokens" in changes else event.tokens
    if event.screenshot is not None:
        counted.setdefault("screenshot", event.screenshot)
    return counted


def _to_step(run_id: UUID, record: EventRecord, event: StepPlanned, changes: SessionChanges) -> StepRecord:
    return StepRecord(
        run_id=run_id,
        number=event.step,
        created_at=record.created_at,
        url=event.url,
        title=event.title,
        tokens=event.tokens,
        cost_usd=changes.get("more_cost_usd"),
        screenshot=event.screenshot,
        observe_ms=event.observe_ms,
        think_ms=event.think_ms,
    )
