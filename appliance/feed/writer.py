"""Puts events into feeds: the row, what it changes about the session and what was charged for it in one transaction,
then the signal."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from appliance.events import ActionFinished, Charge, FeedEvent, StepPlanned, cost_of, tokens_of
from appliance.feed.alerts import tell_alerts
from appliance.feed.hub import Hub
from appliance.persistence.database import Database, Transaction
from appliance.persistence.events import append_event
from appliance.persistence.ledger import add_charges
from appliance.persistence.records import EventRecord, StepRecord
from appliance.persistence.runs import count_step
from appliance.persistence.sessions import SessionChanges, change_session
from appliance.persistence.steps import add_step, add_to_step


class Feed:
    """Appends to the feeds of all sessions."""

    def __init__(self, database: Database, hub: Hub) -> None:
        self._database = database
        self._hub = hub

    async def append(
        self,
        session_id: UUID,
        run_id: UUID | None,
        event: FeedEvent,
        changes: SessionChanges | None = None,
        charges: Sequence[Charge] = (),
    ) -> EventRecord:
        """Write the event with the session's changes, then signal; raises NotFound for a deleted session.

        A StepPlanned brings along what follows from it: the step's row, one more step for run and session, the
        session's summary line and screenshot. The `charges` go to the ledger and into the totals of step, run and
        session; without a run there can be none. What caps have to tell of them follows the event.
        """

        async def write(transaction: Transaction) -> EventRecord:
            return await write_event(transaction, session_id, run_id, event, changes, charges)

        record = await self._database.writer.submit(write)
        self._hub.signal(session_id)
        return record


async def write_event(
    transaction: Transaction,
    session_id: UUID,
    run_id: UUID | None,
    event: FeedEvent,
    changes: SessionChanges | None = None,
    charges: Sequence[Charge] = (),
) -> EventRecord:
    """Do what `Feed.append` does inside a transaction that also does other things; the caller signals afterwards."""
    record = await append_event(transaction, session_id, run_id, event)
    changes = SessionChanges(**(changes or {}))
    if run_id is not None:
        if isinstance(event, StepPlanned):
            await add_step(transaction, _to_step(run_id, record, event, charges))
            await count_step(transaction, run_id)
            _count_step(event, changes)
        elif isinstance(event, ActionFinished) and charges:
            await add_to_step(transaction, run_id, event.step, tokens_of(charges), _known_cost(charges))
        payer = await add_charges(transaction, session_id, run_id, charges)
        if payer is not None:
            await tell_alerts(transaction, session_id, run_id, payer)
    await change_session(transaction, session_id, **changes)
    return record


def _count_step(event: StepPlanned, changes: SessionChanges) -> None:
    changes.setdefault("last_step_summary", event.move)
    changes["more_steps"] = 1
    if event.screenshot is not None:
        changes.setdefault("screenshot", event.screenshot)


def _known_cost(charges: Sequence[Charge]) -> Decimal | None:
    """Return what the charges cost together, None where the price of one is not known."""
    return None if any(charge.cost_usd is None for charge in charges) else cost_of(charges)


def _to_step(run_id: UUID, record: EventRecord, event: StepPlanned, charges: Sequence[Charge]) -> StepRecord:
    return StepRecord(
        run_id=run_id,
        number=event.step,
        created_at=record.created_at,
        url=event.url,
        title=event.title,
        tokens=tokens_of(charges),
        cost_usd=_known_cost(charges),
        screenshot=event.screenshot,
        observe_ms=event.observe_ms,
        think_ms=event.think_ms,
    )
