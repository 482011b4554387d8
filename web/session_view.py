"""What a page shows of one session: its rows read in one go, and what follows from them for the layout."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from appliance.persistence.database import Database, Transaction
from appliance.persistence.ledger import costs_of_turns
from appliance.persistence.records import RunRecord, SessionRecord
from appliance.persistence.runs import find_latest_run, find_provenance
from appliance.persistence.sessions import find_session
from appliance.store.sources import Sources
from appliance.words import Ending, Lifecycle, RunStatus, SessionStatus
from web.answers import Answer, lay_out
from web.wording import FailureWords, say_failure

Phase = Literal["waiting", "running", "resting", "ended"]

_FAILED_ENDINGS = frozenset(
    {Ending.FAILED, Ending.TIMED_OUT, Ending.STEPS_SPENT, Ending.BUDGET_SPENT, Ending.INTERRUPTED}
)


@dataclass(frozen=True)
class SessionView:
    """A session with its latest run, and where the values of its answer were read, if that is known.

    `costs` are the US dollars of each of its tasks, the first one's first.
    """

    session: SessionRecord
    run: RunRecord | None
    sources: Sources | None = None
    costs: tuple[Decimal, ...] = ()

    @property
    def phase(self) -> Phase:
        """Where the session stands: it waits for a slot, works, may be given a task, or is over."""
        if self.session.status.is_final and not self.session.takes_tasks:
            return "ended"
        if self.run is None or self.run.status is RunStatus.ENDED:
            return "resting"
        return "running" if self.session.status is SessionStatus.RUNNING else "waiting"

    @property
    def has_result(self) -> bool:
        """Whether the latest run is over, so that there is something to say about it."""
        return self.run is not None and self.phase in ("ended", "resting")

    @property
    def seconds(self) -> float:
        """How long the latest run took, or has been going on, pauses not counted."""
        run = self.run
        if run is None or run.started_at is None:
            return 0.0
        passed = ((run.paused_at or run.ended_at or datetime.now(UTC)) - run.started_at).total_seconds()
        return max(0.0, passed - run.paused_seconds)

    @property
    def is_paused(self) -> bool:
        """Whether the run stands still."""
        return self.phase == "running" and self.session.lifecycle is Lifecycle.PAUSED

    @property
    def clock_start(self) -> datetime | None:
        """When a clock would have begun that shows how long the run has been going on; None when none runs."""
        run = self.run
        if run is None or run.started_at is None or self.phase != "running" or self.is_paused:
            return None
        return run.started_at + timedelta(seconds=run.paused_seconds)

    @property
    def answer(self) -> Answer | None:
        """What the latest run delivered, laid out."""
        is_structured = self.session.output_schema is not None
        return lay_out(self.session.output, is_structured=is_structured, sources=self.sources)

    @property
    def failure(self) -> FailureWords | None:
        """What went wrong with the latest run, None when nothing did."""
        if not self.has_result:
            return None
        ending = self.run.ending if self.run else None
        is_failed = self.session.failure is not None or ending in _FAILED_ENDINGS
        if not is_failed and self.session.status not in (SessionStatus.ERROR, SessionStatus.TIMED_OUT):
            return None
        return say_failure(self.session.failure)


async def load_session_view(database: Database, session_id: UUID) -> SessionView:
    """Read the session, its latest run and the sources of its answer in one consistent state; raises NotFound."""
    async with database.read() as transaction:
        session = await find_session(transaction, session_id)
        run = await find_latest_run(transaction, session_id)
        costs = await costs_of_turns(transaction, session_id)
        return SessionView(session, run, await read_sources(transaction, run), costs)


async def read_sources(transaction: Transaction, run: RunRecord | None) -> Sources | None:
    """Return where the values of a run's answer were read; None while it works, and where it is not known."""
    return None if run is None or run.status is not RunStatus.ENDED else await find_provenance(transaction, run.id)
