"""Writes down what a run spends while it works and how it ended, so that session, run and feed never disagree."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import structlog

from appliance.agent.outcome import Outcome
from appliance.errors import DatabaseUnavailable, NotFound, PilothouseError
from appliance.events import Charge, FeedEvent, RunFinished, StepPlanned
from appliance.feed.writer import write_event
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ledger import add_charges
from appliance.persistence.records import RunRecord
from appliance.persistence.runs import change_run, find_run
from appliance.persistence.sessions import SessionChanges, find_session
from appliance.runtime.equipment import Equipment
from appliance.runtime.stubborn import submit_stubbornly
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

    def note(self, charges: Sequence[Charge]) -> None:
        """Know that these charges are written, though not with an event of this feed."""
        self._written.update(charges)

    def untold(self, charges: Sequence[Charge]) -> tuple[Charge, ...]:
        """Return those of all charges of the run that came with no event, as in a step that was cut off.

        An event that could not be written took its charges nowhere either. To be asked after `flush`.
        """
        return tuple((Counter(charges) - self._written).elements())


class Settlement:
    """What is to be written of a run that is over: its outcome, what its session is then, and what was not told yet."""

    def __init__(self, database: Database, run: RunRecord, outcome: Outcome, status: SessionStatus) -> None:
        self.is_written = False
        self._database = database
        self._run = run
        self._outcome = outcome
        self._status = status
        self._tally: Tally | None = None
        self._charges: Callable[[], Sequence[Charge]] = tuple

    def charge(self, tally: Tally, charges: Callable[[], Sequence[Charge]]) -> None:
        """Write, too, those of all charges of the run that its tally has not told."""
        self._tally, self._charges = tally, charges

    async def write(self, lifecycle: Lifecycle | None) -> bool:
        """Write it, also when the database is out of order for some seconds; raises DatabaseUnavailable after that.

        Returns False where nobody wants to know any more but what it cost: in a session that was deleted, and when
        somebody else has written down meanwhile that the run ended.
        """
        untold = await self._untold()

        async def write(transaction: Transaction) -> bool:
            return await self._write(transaction, untold, lifecycle)

        is_told = await submit_stubbornly(self._database, write, f"the ending of run {self._run.id}")
        self._note_written(untold)
        if not is_told:
            log.info("a run ended that was ended or deleted meanwhile", run=str(self._run.id))
        return is_told

    async def write_late(self) -> bool:
        """Write what is missing, the ending or what was charged after it; returns whether there was something.

        Raises DatabaseUnavailable.
        """
        untold = await self._untold()
        if self.is_written and not untold:
            return False
        await self._database.writer.submit(lambda transaction: self._write(transaction, untold, None))
        self._note_written(untold)
        log.info("what a run left behind is written late", run=str(self._run.id), charges=len(untold))
        return True

    async def _untold(self) -> tuple[Charge, ...]:
        if self._tally is None:
            return ()
        await self._tally.flush()
        return self._tally.untold(self._charges())

    def _note_written(self, charges: tuple[Charge, ...]) -> None:
        self.is_written = True
        if self._tally is not None:
            self._tally.note(charges)

    async def _write(self, transaction: Transaction, charges: tuple[Charge, ...], lifecycle: Lifecycle | None) -> bool:
        run = self._run
        is_ended = (await find_run(transaction, run.id)).status is RunStatus.ENDED
        if not is_ended and await _is_there(transaction, run.session_id):
            await settle(transaction, run, self._outcome, self._status, charges, lifecycle)
            return True
        await add_charges(transaction, run.session_id, run.id, charges)
        if not is_ended:
            await change_run(
                transaction, run.id, status=RunStatus.ENDED, ended_at=utc_now(), ending=self._outcome.ending
            )
        return False


async def await_late(pieces: Sequence[asyncio.Task[Outcome]], seconds: float, what: str) -> None:
    """Return when the tasks are over that were cancelled and did not end in time, after so many seconds at most.

    What they met is of no interest any more; `what` says in the log whose they are.
    """
    _, late = await asyncio.wait(pieces, timeout=seconds)
    for piece in pieces:
        if piece.done() and not piece.cancelled() and (fault := piece.exception()) is not None:
            log.info("a part of a run ended late", of=what, reason=str(fault) or type(fault).__name__)
    if late:
        log.error("a part of a run does not end; what it costs from now on is charged to nobody", of=what)


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
