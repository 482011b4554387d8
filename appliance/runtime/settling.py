"""Writes down what a run spends while it works and how it ended, so that session, run and feed never disagree."""

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from appliance.agent.outcome import Outcome
from appliance.errors import DatabaseUnavailable, NotFound, PilothouseError
from appliance.events import Charge, FeedEvent, RunFinished, StepPlanned
from appliance.feed.writer import write_event
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Transaction
from appliance.persistence.ledger import add_charges
from appliance.persistence.records import RunRecord
from appliance.persistence.runs import change_run, find_run
from appliance.persistence.sessions import SessionChanges, find_session
from appliance.runtime.equipment import Equipment
from appliance.words import Lifecycle, RunStatus, SessionStatus

_MOST_UNDER_WAY = 4

log = structlog.get_logger()


class Tally:
    """The feed of one run: writes its events in order beside the work, and knows which charges are written by now."""

    def __init__(self, equipment: Equipment, run: RunRecord) -> None:
        self._equipment = equipment
        self._run = run
        self._writing: deque[asyncio.Task[None]] = deque()
        self._charging: asyncio.Task[None] | None = None
        self._written: Counter[Charge] = Counter()

    async def emit(self, event: FeedEvent, charges: Sequence[Charge] = ()) -> None:
        """Append the event to the session's feed, with what was charged for what it tells.

        The work goes on beside the disk: this returns once all but the last few events are committed. Of those only one
        has charges, so that no more than what one event tells can be lost with the process. Raises what an event before
        it met.
        """
        await self._wait(_MOST_UNDER_WAY)
        while charges and (before := self._charging) is not None and before in self._writing:
            await self._wait(len(self._writing) - 1 - self._writing.index(before))
        writing = asyncio.create_task(self._write(event, charges), name=f"event of {self._run.id}")
        self._writing.append(writing)
        if charges:
            self._charging = writing

    async def flush(self) -> None:
        """Return when every event is committed; one that could not be is logged."""
        while self._writing:
            try:
                await self._wait(0)
            except PilothouseError as error:
                log.warning("an event of a run could not be written", run=str(self._run.id), reason=error.message)
            except Exception:
                log.exception("an event of a run could not be written", run=str(self._run.id))

    async def _wait(self, most: int) -> None:
        """Wait until no more than so many events are under way, which the writer takes in their order."""
        while self._writing and (self._writing[0].done() or len(self._writing) > most):
            first = self._writing[0]
            try:
                await asyncio.shield(first)
            finally:
                # Somebody else may have waited for the same one.
                if first.done() and self._writing and self._writing[0] is first:
                    self._writing.popleft()

    async def _write(self, event: FeedEvent, charges: Sequence[Charge]) -> None:
        await self._equipment.feed.append(self._run.session_id, self._run.id, event, charges=charges)
        self._written.update(charges)
        if isinstance(event, StepPlanned):
            await self._refresh_prices()

    async def _refresh_prices(self) -> None:
        try:
            await self._equipment.prices.refresh()
        except DatabaseUnavailable as error:
            log.warning("prices could not be read again; the known ones count", reason=error.message)

    def untold(self, charges: Sequence[Charge]) -> tuple[Charge, ...]:
        """Return those of all charges of the run that came with no event, as in a step that was cut off.

        An event that could not be written took its charges nowhere either. To be asked after `flush`.
        """
        return tuple((Counter(charges) - self._written).elements())


@dataclass(frozen=True)
class Settlement:
    """What is to be written of a run that is over: its outcome, what its session is then, `charges` not told yet."""

    run: RunRecord
    outcome: Outcome
    status: SessionStatus
    charges: tuple[Charge, ...] = ()

    async def write(self, transaction: Transaction, lifecycle: Lifecycle | None = None) -> bool:
        """Write it; returns False where nobody is interested any more but for what it cost.

        That is so in a session that was deleted, and when somebody else has written down meanwhile that the run ended.
        """
        run = self.run
        is_ended = (await find_run(transaction, run.id)).status is RunStatus.ENDED
        if not is_ended and await _is_there(transaction, run.session_id):
            await settle(transaction, run, self.outcome, self.status, self.charges, lifecycle)
            return True
        await add_charges(transaction, run.session_id, run.id, self.charges)
        if not is_ended:
            await change_run(
                transaction, run.id, status=RunStatus.ENDED, ended_at=utc_now(), ending=self.outcome.ending
            )
        return False


async def _is_there(transaction: Transaction, session_id: UUID) -> bool:
    try:
        await find_session(transaction, session_id)
    except NotFound:
        return False
    return True


async def settle(
    transaction: Transaction,
    run: RunRecord,
    outcome: Outcome,
    status: SessionStatus,
    charges: Sequence[Charge] = (),
    lifecycle: Lifecycle | None = None,
) -> None:
    """Write the run's ending, the session's result and state, and the last event of the run, all or nothing.

    `charges` are those that the feed was not told yet.
    """
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
    changes = SessionChanges(status=status, lifecycle=lifecycle, last_step_summary=outcome.summary, **result)
    await write_event(transaction, run.session_id, run.id, finished, changes, charges)
