"""Gives waiting runs their browsers, each in its turn, and keeps track of the workers that hold one.

A run of a session whose browser is parked goes on in that. Any other takes the blank browser or a free slot; where
there is neither, the browser that was parked first gives way.
"""

import asyncio
from contextlib import suppress
from uuid import UUID

import structlog

from appliance.displays.slot import Slot
from appliance.errors import DatabaseUnavailable, NotFound
from appliance.events import RunQueued
from appliance.persistence.queue import queued_runs
from appliance.persistence.records import RunRecord
from appliance.runtime.endings import SHUT_DOWN, STOPS
from appliance.runtime.equipment import Equipment
from appliance.runtime.held import HeldBrowser
from appliance.runtime.parking import Parking
from appliance.runtime.warming import Warming
from appliance.runtime.worker import Worker
from appliance.words import StopStrategy

_SETTLE_CAP = 15.0
_CLOSE_CAP = 12.0
_CANCEL_CAP = 1.0
_LOOK_ANYWAY = 30.0
_TRY_AGAIN = 2.0

log = structlog.get_logger()


class Dispatcher:
    """Works from `start` to `close`; `wake` it whenever a run was queued."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._bell = asyncio.Event()
        self._workers: dict[UUID, Worker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unwritten: list[Worker] = []
        self._writing_late = asyncio.Lock()
        self._announced: set[UUID] = set()
        self._loop: asyncio.Task[None] | None = None
        self._parking = Parking(equipment, self.wake)
        self._warming = Warming(equipment, self.wake)

    @property
    def taken(self) -> int:
        """How many slots sessions hold, working or parked; a blank browser is nobody's."""
        return len(self._equipment.pool.leased) - self._warming.held

    def start(self) -> None:
        """Begin to dispatch, with what already waits."""
        self._bell.set()
        self._loop = asyncio.create_task(self._dispatch(), name="dispatcher")

    def wake(self) -> None:
        """Look for waiting runs now."""
        self._bell.set()

    def find_slot(self, session_id: UUID) -> Slot | None:
        """Return the slot with the session's browser, at work or parked, or None."""
        worker = self._find_worker(session_id)
        return self._parking.find_slot(session_id) if worker is None else worker.slot

    def is_at_work(self, session_id: UUID) -> bool:
        """Whether a worker has a run of the session and has not written down its ending."""
        return self._find_worker(session_id) is not None

    async def stop(self, session_id: UUID, strategy: StopStrategy) -> None:
        """End the session's run if a worker holds it, and return once that is written down.

        With the whole session its parked browser is closed, too.
        """
        worker = self._find_worker(session_id)
        if worker is not None:
            worker.halt(STOPS[strategy])
            with suppress(TimeoutError):
                async with asyncio.timeout(_SETTLE_CAP):
                    await worker.settled.wait()
        await self._write_late()
        if strategy is StopStrategy.SESSION:
            self._parking.release(session_id)

    async def pause(self, session_id: UUID) -> bool:
        """Let the session's run stand still; returns whether it has one that does now. Raises NotFound."""
        worker = self._find_worker(session_id)
        return worker is not None and await worker.pause()

    async def resume(self, session_id: UUID) -> bool:
        """Let the session's run go on; returns whether it has one that does now. Raises NotFound."""
        worker = self._find_worker(session_id)
        return worker is not None and await worker.resume()

    async def close(self) -> None:
        """Take on nothing more, interrupt the runs and wait until their browsers are gone, a few seconds at most.

        Calling it again does no harm.
        """
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
        for worker in self._workers.values():
            worker.halt(SHUT_DOWN)
        resting = {asyncio.create_task(self._close_parking()), asyncio.create_task(self._warming.close())}
        _, late = await asyncio.wait(self._tasks | resting, timeout=_CLOSE_CAP)
        for task in late:
            task.cancel()
        if late:
            log.warning("runs did not come to an end in time", count=len(late))
            await asyncio.wait(late, timeout=_CANCEL_CAP)
        with suppress(DatabaseUnavailable):
            await self._write_late()

    async def _close_parking(self) -> None:
        await self._parking.close()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._parking.close()  # of those whose runs were just being settled

    async def _dispatch(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_ANYWAY):
                    await self._bell.wait()
            self._bell.clear()
            try:
                await self._dispatch_waiting()
            except DatabaseUnavailable as error:
                log.error("waiting runs could not be looked at", reason=error.message)
                self._wake_later()
            except Exception:
                # Nothing would be dispatched any more.
                log.exception("waiting runs could not be looked at")
                self._wake_later()

    async def _write_late(self) -> None:
        """Write the endings and charges that could not be written in time; raises DatabaseUnavailable."""
        async with self._writing_late:
            while self._unwritten:
                worker = self._unwritten[0]
                try:
                    await worker.write_late()
                except DatabaseUnavailable:
                    raise
                except Exception:
                    # Tried again without end, it would keep all others from being dispatched.
                    log.exception("what a run left behind cannot be written", run=str(worker.run.id))
                self._unwritten.remove(worker)

    async def _dispatch_waiting(self) -> None:
        await self._write_late()
        async with self._equipment.database.read() as transaction:
            queued = await queued_runs(transaction)
        waiting: list[RunRecord] = []
        for run in queued:
            # A session's browser may be about to be parked: its next run waits for that, and not in the queue.
            if run.id in self._workers or self._find_worker(run.session_id) is not None:
                continue
            # Whose browser is parked overtakes those that wait only where others can make room for them.
            may_overtake = len(waiting) < self._leaving + self._parking.resting
            if may_overtake and (parked := self._parking.take(run.session_id)) is not None:
                self._begin(Worker.following(self._equipment, run, parked, self._parking))
            elif not waiting and (held := self._find_browser()) is not None:
                self._begin(Worker(self._equipment, run, held, self._parking))
            else:
                waiting.append(run)
        self._make_room(len(waiting))
        if not waiting:
            self._warming.fill()
        self._announced &= {run.id for run in waiting}
        for position, run in enumerate(waiting, start=1):
            await self._announce(run, position)

    def _find_browser(self) -> HeldBrowser | None:
        """Return a browser for a run: the blank one, or a new one on a free slot."""
        if (held := self._warming.take()) is not None:
            return held
        slot = self._equipment.pool.try_lease()
        return None if slot is None else HeldBrowser(self._equipment, slot)

    def _make_room(self, waiting: int) -> None:
        """Let as many parked browsers give way as there are runs for which no slot is about to become free."""
        while self._leaving < waiting and self._parking.release_oldest():
            pass

    @property
    def _leaving(self) -> int:
        """How many slots are about to become free."""
        leaving = self._parking.leaving + self._warming.leaving
        return leaving + sum(worker.is_leaving for worker in self._workers.values())

    def _begin(self, worker: Worker) -> None:
        run = worker.run
        self._workers[run.id] = worker
        task = asyncio.create_task(self._work(worker), name=f"run {run.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, worker: Worker) -> None:
        try:
            await worker.work()
        finally:
            del self._workers[worker.run.id]
            if worker.is_unwritten:
                self._unwritten.append(worker)
            if worker.is_put_off or worker.is_unwritten:
                self._wake_later()
            else:
                self.wake()
            if worker.is_stuck:
                await self._await_late(worker)

    async def _await_late(self, worker: Worker) -> None:
        """Have written what the run may yet cost after its ending."""
        try:
            await worker.await_late()
        finally:
            self._unwritten.append(worker)
            self.wake()

    def _wake_later(self) -> None:
        """Look again when the database may be in order, not at once and without end."""
        asyncio.get_running_loop().call_later(_TRY_AGAIN, self.wake)

    async def _announce(self, run: RunRecord, position: int) -> None:
        """Tell the feed, once, that the run waits; where it stands later is in the session."""
        if run.id in self._announced:
            return
        with suppress(NotFound):
            await self._equipment.feed.append(run.session_id, run.id, RunQueued(position=position))
        self._announced.add(run.id)

    def _find_worker(self, session_id: UUID) -> Worker | None:
        return next(
            (
                worker
                for worker in self._workers.values()
                if worker.run.session_id == session_id and not worker.settled.is_set()
            ),
            None,
        )
