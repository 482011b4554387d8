"""Writes down what a run spends while it works and how it ended, so that session, run and feed never disagree."""

import asyncio
from decimal import Decimal
from typing import Any

import structlog

from appliance.agent.outcome import Outcome
from appliance.errors import PilothouseError
from appliance.events import ActionFinished, FeedEvent, GoalStated, Reviewed, RunFinished, StepPlanned, TokenCount
from appliance.feed.writer import write_event
from appliance.models.catalog import ModelEntry
from appliance.models.prices import price
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Transaction
from appliance.persistence.records import RunRecord
from appliance.persistence.runs import change_run
from appliance.persistence.sessions import SessionChanges
from appliance.runtime.equipment import Equipment
from appliance.words import RunStatus, SessionStatus

log = structlog.get_logger()


class Tally:
    """The feed of one run: writes its events in order beside the work and adds up what they say was spent."""

    def __init__(self, equipment: Equipment, run: RunRecord, entry: ModelEntry) -> None:
        self._equipment = equipment
        self._run = run
        self._entry = entry
        self._writing: asyncio.Task[None] | None = None
        self.tokens = TokenCount()
        self.services_usd = Decimal(0)

    async def emit(self, event: FeedEvent) -> None:
        """Append the event to the session's feed, with what it costs in the session's totals.

        Returns once the events before it are committed: the work goes on beside the disk. Raises what the event before
        it met.
        """
        await self._previous()
        self._writing = asyncio.create_task(self._write(event), name=f"event of {self._run.id}")

    async def flush(self) -> None:
        """Return when every event is committed; one that could not be is logged."""
        try:
            await self._previous()
        except PilothouseError as error:
            log.warning("the last event of a run could not be written", run=str(self._run.id), reason=error.message)

    async def _previous(self) -> None:
        writing = self._writing
        if writing is None:
            return
        try:
            await asyncio.shield(writing)
        finally:
            if writing.done():
                self._writing = None

    async def _write(self, event: FeedEvent) -> None:
        changes, spent = SessionChanges(), TokenCount()
        if isinstance(event, StepPlanned | ActionFinished | GoalStated | Reviewed):
            spent = event.tokens
            changes = _spend(self._entry, spent)
            if not isinstance(event, StepPlanned) and spent != TokenCount():
                changes["more_tokens"] = spent
        services = event.cost_usd if isinstance(event, ActionFinished) else Decimal(0)
        _add_services(changes, services)
        await self._equipment.feed.append(self._run.session_id, self._run.id, event, changes)
        self.tokens += spent
        self.services_usd += services

    def untold(self, outcome: Outcome) -> SessionChanges:
        """Return what the run spent beyond what the feed has told, as in a step that was cut off."""
        rest = TokenCount(
            input=max(0, outcome.tokens.input - self.tokens.input),
            cache_read=max(0, outcome.tokens.cache_read - self.tokens.cache_read),
            cache_write=max(0, outcome.tokens.cache_write - self.tokens.cache_write),
            output=max(0, outcome.tokens.output - self.tokens.output),
        )
        changes = _spend(self._entry, rest)
        changes["more_tokens"] = rest
        _add_services(changes, outcome.services_usd - self.services_usd)
        return changes


def _spend(entry: ModelEntry, tokens: TokenCount) -> SessionChanges:
    cost = price(entry, tokens) if tokens != TokenCount() else Decimal(0)
    return SessionChanges() if cost is None else SessionChanges(more_cost_usd=cost)


def _add_services(changes: SessionChanges, amount: Decimal) -> None:
    """Add what services other than the model cost to what is changed about the session."""
    if amount:
        changes["more_services_usd"] = amount
        changes["more_cost_usd"] = changes.get("more_cost_usd", Decimal(0)) + amount


async def settle(
    transaction: Transaction, run: RunRecord, outcome: Outcome, status: SessionStatus, spent: SessionChanges
) -> None:
    """Write the run's ending, the session's result and the last event of the run, all or nothing."""
    result: dict[str, Any] = {
        "output": outcome.output,
        "is_successful": outcome.is_successful,
        "failure": outcome.failure,
        "failure_status_code": outcome.status_code,
    }
    await change_run(
        transaction,
        run.id,
        status=RunStatus.ENDED,
        ended_at=utc_now(),
        ending=outcome.ending,
        provenance=outcome.provenance,
        **result,
    )
    if outcome.notice is not None:
        await write_event(transaction, run.session_id, run.id, outcome.notice)
    finished = RunFinished(
        ending=outcome.ending,
        is_successful=outcome.is_successful,
        summary=outcome.summary,
        output=outcome.output,
        failure=outcome.failure,
        status_code=outcome.status_code,
        steps=outcome.steps,
    )
    changes = SessionChanges(status=status, last_step_summary=outcome.summary, **result)
    changes.update(spent)
    await write_event(transaction, run.session_id, run.id, finished, changes)
