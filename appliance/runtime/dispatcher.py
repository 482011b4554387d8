"""Gives waiting runs to free slots, oldest first, and keeps track of the workers that hold one."""

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
from appliance.runtime.worker import Worker
from appliance.words import StopStrategy

_SETTLE_CAP = 15.0
_CLOSE_CAP = 12.0
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
        self._announced: set[UUID] = set()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to dispatch, with what already waits."""
        self._bell.set()
        self._loop = asyncio.create_task(self._dispatch(), name="dispatcher")

    def wake(self) -> None:
        """Look for waiting runs now."""
        self._bell.set()

    def find_slot(self, session_id: UUID) -> Slot | None:
        """Return the slot that the session's run holds at this moment, or None."""
        worker = self._find_worker(session_id)
        return None if worker is None else worker.slot

    async def stop(self, session_id: UUID, strategy: StopStrategy) -> None:
        """End the session's run if a worker holds it, and return once that is written down."""
        worker = self._find_worker(session_id)
        if worker is None:
            return
        worker.halt(STOPS[strategy])
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_CAP):
                await worker.settled.wait()

    async def close(self) -> None:
        """Take on nothing more, interrupt the runs and wait until their browsers are gone, a few seconds at most.

        Calling it again does no harm.
        """
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
        for worker in self._workers.values():
            worker.halt(SHUT_DOWN)
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_CLOSE_CAP)
            for task in late:
                task.cancel()
            if late:
                log.warning("runs did not come to an end in time", count=len(late))

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

    async def _dispatch_waiting(self) -> None:
        async with self._equipment.database.read() as transaction:
            waiting = [run for run in await queued_runs(transaction) if run.id not in self._workers]
        while waiting and (slot := self._equipment.pool.try_lease()) is not None:
            self._begin(waiting.pop(0), slot)
        self._announced &= {run.id for run in waiting}
        for position, run in enumerate(waiting, start=1):
            await self._announce(run, position)

    def _begin(self, run: RunRecord, slot: Slot) -> None:
        worker = Worker(self._equipment, run, slot)
        self._workers[run.id] = worker
        task = asyncio.create_task(self._work(worker), name=f"run {run.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, worker: Worker) -> None:
        try:
            await worker.work()
        finally:
            del self._workers[worker.run.id]
            if worker.is_put_off:
                self._wake_later()
            else:
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
