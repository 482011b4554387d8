"""Works on one run from beginning to end, in phases that each undo themselves.

folders → browser, new or waiting (the agent's parts load beside it) → agent → settling → parking or release.
Whatever goes wrong, the run gets one ending with one sentence, and the slot comes back.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from appliance.agent.outcome import Outcome
from appliance.displays.slot import Slot
from appliance.errors import BrowserLost, DatabaseUnavailable, NotFound, PilothouseError
from appliance.events import Notice, RunStarted
from appliance.feed.writer import write_event
from appliance.models.base import Model
from appliance.models.catalog import ModelEntry
from appliance.models.providers import find_model
from appliance.pause import Pause
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Transaction
from appliance.persistence.records import RunRecord, SessionRecord
from appliance.persistence.runs import change_run, find_run, list_runs
from appliance.persistence.sessions import SessionChanges, find_session
from appliance.runtime.endings import STOPS, Halt, failed, halt_of, halted, loss_of, status_after
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import SessionFolders
from appliance.runtime.held import HeldBrowser, screen_of
from appliance.runtime.parking import Parked, Parking
from appliance.runtime.phases import Laps, loading_model, make_folders
from appliance.runtime.pressure import telling_pressure
from appliance.runtime.settling import Settlement, Tally, await_late
from appliance.runtime.workspaces import files_of
from appliance.sensitive import SensitiveData
from appliance.words import Lifecycle, RunStatus, SessionStatus, StopStrategy

if TYPE_CHECKING:
    from appliance.agent.loop import Agent
    from appliance.agent.memory import Memory
    from appliance.agent.replay import Replay

_CANCEL_CAP = 3.0
_LAST_WORDS = 0.5
_LATE_CAP = 200.0
"""Seconds that what could not be cut off is waited for: a little longer than a model may take to answer."""

log = structlog.get_logger()


class Worker:
    """One run in one browser, which is parked or closed afterwards.

    `settled` is set once the run's ending is written and the browser is parked, if it is, but before it is gone.
    `is_put_off` says that the run still waits, since the database could not take its beginning down.
    """

    def __init__(self, equipment: Equipment, run: RunRecord, held: HeldBrowser, parking: Parking) -> None:
        self.run = run
        self.settled = asyncio.Event()
        self.is_put_off = False
        self._equipment = equipment
        self._held = held
        self._parking = parking
        self._parked: Parked | None = None
        self._memory: Memory | None = None
        self._pause = Pause()
        self._pausing = asyncio.Lock()
        self._is_kept = False
        self._pieces: list[asyncio.Task[Outcome]] = []
        self._halt: Halt | None = None
        self._halted = asyncio.Event()
        self._agent: Agent | Replay | None = None
        self._tally: Tally | None = None
        self._settlement: Settlement | None = None
        self._sensitive = SensitiveData()

    @classmethod
    def following(cls, equipment: Equipment, run: RunRecord, parked: Parked, parking: Parking) -> "Worker":
        """Return the worker of a run that goes on in its session's parked browser."""
        worker = cls(equipment, run, parked.held, parking)
        worker._parked, worker._memory = parked, parked.memory
        return worker

    @property
    def slot(self) -> Slot:
        """The slot that the run holds."""
        return self._held.slot

    @property
    def is_leaving(self) -> bool:
        """Whether the run is over and its slot about to become free."""
        return self.settled.is_set() and not self._is_kept

    @property
    def is_stuck(self) -> bool:
        """Whether something in the run did not end in time when it was told to, and may cost something yet."""
        return any(not piece.done() for piece in self._pieces)

    @property
    def is_unwritten(self) -> bool:
        """Whether the run is over and its ending, with what it cost, is not written down yet."""
        return self._settlement is not None and not self._settlement.is_written

    async def await_late(self) -> None:
        """Return when nothing goes on in the run any more, some minutes at most; then `write_late` tells the rest."""
        await await_late(self._pieces, _LATE_CAP, f"run {self.run.id}")

    async def write_late(self) -> None:
        """Write what is missing of the run's ending and of what it cost; raises DatabaseUnavailable."""
        if self._settlement is not None and await self._settlement.write_late():
            self._equipment.treasury.close(self.run.id)
            self._equipment.hub.signal(self.run.session_id)

    def halt(self, halt: Halt) -> None:
        """End the run from outside; the first order counts."""
        if self._halt is None:
            self._halt = halt
            self._halted.set()

    async def pause(self) -> bool:
        """Let the run stand still and tell the feed; returns False when it has not begun or is over."""
        if self._is_ending:
            return False
        is_new = self._pause.pause()
        async with self._pausing:
            if not is_new and self._pause.is_paused:
                return True
            self._pause.pause()
            try:
                is_told = await self._tell(Notice(code="paused", text="The run is paused."), Lifecycle.PAUSED)
            except PilothouseError:
                self._pause.resume()
                raise
            if not is_told:
                self._pause.resume()
            return is_told

    async def resume(self) -> bool:
        """Let the run go on and tell the feed; returns False when it does not stand still, or is over."""
        async with self._pausing:
            if self._is_ending or not self._pause.is_paused:
                return False
            await self._tell(Notice(code="resumed", text="The run goes on."), None)
            self._pause.resume()
            return True

    @property
    def _is_ending(self) -> bool:
        return self.settled.is_set() or self._halt is not None

    async def _tell(self, notice: Notice, lifecycle: Lifecycle | None) -> bool:
        """Write the notice with the session's lifecycle; returns False when the run is not going on."""
        run = self.run

        async def write(transaction: Transaction) -> bool:
            found = await find_run(transaction, run.id)
            if found.status is not RunStatus.RUNNING:
                return False
            now = utc_now()
            before = (now - found.paused_at).total_seconds() if found.paused_at is not None else 0.0
            paused_at = now if lifecycle is Lifecycle.PAUSED else None
            await change_run(
                transaction, run.id, paused_at=paused_at, paused_seconds=found.paused_seconds + max(0.0, before)
            )
            await write_event(transaction, run.session_id, run.id, notice, SessionChanges(lifecycle=lifecycle))
            return True

        is_told = await self._equipment.database.writer.submit(write)
        self._equipment.hub.signal(run.session_id)
        return is_told

    async def work(self) -> None:
        """Do the run and let go of the browser; never raises but for cancellation."""
        try:
            async with AsyncExitStack() as undo:
                session = await self._claim()
                if session is None:
                    self._put_back()
                else:
                    async with telling_pressure(self._equipment.feed, self.run, self._equipment.stall):
                        outcome = await self._reach_outcome(session, undo)
                    await self._settle(session, outcome)
                self.settled.set()
        except Exception:
            log.exception("a run did not come to a clean end", run=str(self.run.id))
        finally:
            if not self.is_unwritten:
                self._equipment.treasury.close(self.run.id)
            self.settled.set()
            if not self._is_kept:
                await self._held.close()

    def _put_back(self) -> None:
        """Leave a parked browser as it was found, since the run does not begin."""
        if self._parked is not None and self._held.is_usable:
            self._is_kept = True
            self._parking.put_back(self._parked)

    async def _claim(self) -> SessionRecord | None:
        """Mark the run as running and return its session; None when it does not wait any more."""
        run = self.run

        async def write(transaction: Transaction) -> SessionRecord | None:
            if (await find_run(transaction, run.id)).status is not RunStatus.QUEUED:
                return None
            await change_run(transaction, run.id, status=RunStatus.RUNNING, started_at=utc_now())
            started = RunStarted(slot=self.slot.number)
            changes = SessionChanges(status=SessionStatus.RUNNING, lifecycle=None)
            await write_event(transaction, run.session_id, run.id, started, changes)
            return await find_session(transaction, run.session_id)

        try:
            session = await self._equipment.database.writer.submit(write)
        except NotFound:
            log.info("a waiting run belongs to a deleted session", run=str(run.id))
            return None
        except DatabaseUnavailable as error:
            log.error("a waiting run cannot begin yet", run=str(run.id), reason=error.message)
            self.is_put_off = True
            return None
        self._equipment.hub.signal(run.session_id)
        return session

    async def _reach_outcome(self, session: SessionRecord, undo: AsyncExitStack) -> Outcome:
        """Go through the phases until the run ends: by itself, by a fault, or by a halt."""
        attempt = asyncio.create_task(self._attempt(session, undo), name=f"attempt {self.run.id}")
        self._pieces.append(attempt)
        halted_wait = asyncio.create_task(self._halted.wait())
        await asyncio.wait({attempt, halted_wait}, return_when=asyncio.FIRST_COMPLETED)
        halted_wait.cancel()
        if not attempt.done():
            if self._halt is not None and self._agent is not None:
                self._agent.interrupt(halt_of(self._halt))
            attempt.cancel()
            await asyncio.wait({attempt}, timeout=_CANCEL_CAP)
        fault = attempt.exception() if attempt.done() and not attempt.cancelled() else asyncio.CancelledError()
        if fault is None:
            return attempt.result()
        if self._halt is not None:
            return self._with_spending(halted(self._halt))
        if not isinstance(fault, PilothouseError):
            log.error("a run met a fault that nobody expected", run=str(self.run.id), exc_info=fault)
        return self._with_spending(failed(fault))

    async def _attempt(self, session: SessionRecord, undo: AsyncExitStack) -> Outcome:
        """Enter the phases one after the other and work until the run has its outcome."""
        equipment, held = self._equipment, self._held
        await equipment.treasury.admit(self.run)
        folders = SessionFolders.of(equipment.settings, session.id)
        entry = find_model(session.model, equipment.keys)
        if session.sensitive_data is not None:
            secrets = await asyncio.to_thread(equipment.seal.open, session.sensitive_data)
            self._sensitive = SensitiveData.read(secrets, session.allowed_domains)
        laps = Laps()
        opening = await undo.enter_async_context(loading_model(equipment, entry))
        await make_folders(folders)
        laps.mark("folders")
        before = held.browser if held.is_usable else None
        await held.open(screen_of(session), frozenset(self._sensitive.values))
        await held.suit_profile(session, self.run.id)
        laps.mark("browser")
        await held.adopt(session)
        laps.mark("adoption")
        if session.profile_id is not None:
            await held.give_profile(equipment.profiles, session.profile_id, session.team_id)
            laps.mark("profile")
        if self._memory is not None and held.browser is not before:
            self._memory = self._memory.in_another_browser()
        model = await opening
        laps.mark("model")
        agent = await self._assemble(session, folders, entry, model)
        laps.mark("agent")
        log.info("browser is ready", run=str(self.run.id), slot=self.slot.number, milliseconds=laps.times)
        return await self._run_agent(agent)

    async def _assemble(
        self, session: SessionRecord, folders: SessionFolders, entry: ModelEntry, model: Model
    ) -> "Agent | Replay":
        from appliance.runtime import agents  # noqa: PLC0415  (loaded by now, in the background)

        async with self._equipment.database.read() as transaction:
            turns = await list_runs(transaction, session.id)
        earlier = tuple(turn for turn in turns if turn.number < self.run.number and turn.status is RunStatus.ENDED)
        self._tally = Tally(self._equipment, self.run)
        await self._equipment.prices.refresh()
        outlets = agents.make_outlets(self.run, entry, folders, self._tally, self._equipment.prices)
        fund = self._equipment.treasury.open(self.run)
        outlets = replace(outlets, fund=fund)
        is_reviewed = self._equipment.settings.reviewer
        assignment = agents.assign(session, self.run, earlier, is_reviewed=is_reviewed)
        shared = session.workspace_id
        workspace = None if shared is None else files_of(self._equipment.settings, shared)
        context = agents.make_context(assignment, self._held.browser, model, folders, self._sensitive, workspace)
        context.keep_picture = agents.make_keeper(self.run, folders)
        context.pressure = agents.make_pressure(self._equipment)
        context.sandbox = await self._held.open_sandbox()
        context.pause = self._pause
        context.captchas = agents.make_captchas(self._equipment.settings, self._pause)
        source = self.run.replays
        if source is None:
            self._agent = agents.assemble(assignment, context, outlets, self._memory)
        else:
            recorded = SessionFolders.of(self._equipment.settings, source.session_id)
            self._agent = await asyncio.to_thread(
                agents.assemble_replay, source, recorded, assignment, context, outlets
            )
        if fund is not None:
            agent = self._agent
            fund.standing = lambda: agent.standing
        return self._agent

    async def _run_agent(self, agent: "Agent | Replay") -> Outcome:
        """Let the agent work; when its browser goes away while it waits for something else, it need not wait on."""
        working = asyncio.create_task(agent.run(), name=f"agent {self.run.id}")
        self._pieces.append(working)
        lost = asyncio.create_task(self._held.browser.lost.wait())
        try:
            await asyncio.wait({working, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await asyncio.wait({working}, timeout=_LAST_WORDS)
            if working.done() and (working.result().is_successful or not lost.done()):
                return working.result()
            loss = await self._explain_loss()
            agent.interrupt(loss_of(loss))
        finally:
            lost.cancel()
            if not working.done():
                working.cancel()
                await asyncio.wait({working}, timeout=_CANCEL_CAP)
        return self._with_spending(failed(loss))

    async def _explain_loss(self) -> BrowserLost:
        what = await self._held.explain_loss()
        return BrowserLost(f"{what} in the middle of the run; what was done until then is kept, start the task again.")

    def _with_spending(self, outcome: Outcome) -> Outcome:
        """Return the outcome with what the agent had spent and saved until it was ended from outside."""
        if self._agent is None:
            return outcome
        so_far = self._agent.outcome_so_far()
        summary = f"{outcome.summary} {so_far.handover}".strip()
        if so_far.summary.startswith(outcome.summary):
            summary = so_far.summary  # the record's, which tells of estimates, too
        spent = replace(outcome, steps=so_far.steps, tokens=so_far.tokens, cost_usd=so_far.cost_usd)
        return replace(
            spent,
            services_usd=so_far.services_usd,
            output=so_far.output,
            is_successful=so_far.is_successful,
            summary=summary,
            provenance=so_far.provenance,
            handover=so_far.handover,
            notice=so_far.notice,
        )

    async def _settle(self, session: SessionRecord, outcome: Outcome) -> None:
        """Write the ending and park the browser that is to stay.

        Raises DatabaseUnavailable when that cannot be written: the dispatcher does so later.
        """
        outcome = self._sensitive.redact_all(outcome)
        status = status_after(outcome, keep_alive=session.keep_alive)
        if self._halt is not None and outcome.ending is self._halt.ending:
            status = self._halt.status
        self._settlement = Settlement(self._equipment.database, self.run, outcome, status)
        if self._tally is not None:
            agent = self._agent
            self._settlement.charge(self._tally, lambda: () if agent is None else agent.charges)
        # Before the ending is written: who waits for it may begin the next session on the profile.
        await self._held.settle_profile(session.id, self.run.id)
        is_kept = self._may_stay(session)
        if await self._settlement.write(Lifecycle.PARKED if is_kept else None) and is_kept:
            memory = self._agent.memory if self._agent is not None else self._memory
            self._parking.park(session.id, self.run.id, self._held, memory)
            self._is_kept = True
        self._equipment.treasury.close(self.run.id, outcome.cost_usd)
        self._equipment.hub.signal(session.id)
        log.info("run ended", run=str(self.run.id), ending=outcome.ending, steps=outcome.steps, summary=outcome.summary)

    def _may_stay(self, session: SessionRecord) -> bool:
        """Whether the browser stays for the session's next task: it lives, and nobody wants the session to end."""
        is_ended = self._halt is not None and self._halt is not STOPS[StopStrategy.TASK]
        return session.keep_alive and self._held.is_usable and not is_ended and not self.is_stuck
