"""The one task that writes: it commits everything that has queued up in one transaction, in a thread of its own.

Each piece of work has its own savepoint, so one that fails takes nothing else with it. A caller gets its
result only after the commit, hence a signal sent afterwards never announces a row that is not there.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import OperationalError

from appliance.persistence.transaction import DirectTransaction, Transaction, explain

T = TypeVar("T")
Work = Callable[[Transaction], Coroutine[Any, Any, T]]
"""An async function of a transaction that awaits nothing else."""

_LARGEST_BATCH = 256


@dataclass
class _Order:
    """A piece of work, who waits for it, and what came of it."""

    work: Work[Any]
    answer: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


class Writer:
    """Runs submitted work one piece after another and commits it in groups."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database writer")
        self._queue: deque[_Order] = deque()
        self._waiting = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        # Belongs to the thread.
        self._connection: Connection | None = None

    def start(self) -> None:
        """Begin to write; needs a running loop."""
        self._task = asyncio.create_task(self._run(), name="database writer")

    async def close(self) -> None:
        """Write what is still queued, then stop."""
        self._closing = True
        self._waiting.set()
        if self._task is not None:
            await self._task
            self._task = None
            await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        self._thread.shutdown(wait=False)

    async def submit(self, work: Work[T]) -> T:
        """Return what `work` returns, once it is committed; raises what it raises, with its changes undone.

        `work` may await only its transaction; anything else raises RuntimeError there. Work that was begun is
        committed even when the caller is cancelled meanwhile. Raises DatabaseUnavailable when the database is out of
        order.
        """
        if self._task is None or self._closing:
            raise RuntimeError("The database is not open for writing.")
        order = _Order(work, asyncio.get_running_loop().create_future())
        self._queue.append(order)
        self._waiting.set()
        return await order.answer

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            while batch := self._take_batch():
                await loop.run_in_executor(self._thread, self._write, batch)
                for order in batch:
                    _answer(order)
            if self._closing:
                return

    def _take_batch(self) -> list[_Order]:
        batch: list[_Order] = []
        while self._queue and len(batch) < _LARGEST_BATCH:
            order = self._queue.popleft()
            if not order.answer.cancelled():
                batch.append(order)
        return batch

    def _write(self, batch: list[_Order]) -> None:
        """Write and commit the batch in the writer's thread; each order then has its result or error."""
        try:
            # Kept, since to take one and give it back takes as long as to write a row.
            connection = self._connection = self._connection or self._engine.connect()
            with connection.begin():
                driver: Any = connection.connection.driver_connection
                for order in batch:
                    _write_in_savepoint(connection, driver.execute, order)
        except Exception as error:
            self._disconnect()
            fault = explain(error) if isinstance(error, OperationalError | sqlite3.OperationalError) else error
            for order in batch:
                order.error = order.error or fault

    def _disconnect(self) -> None:
        """Let go of the connection; the next batch has a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()


def _write_in_savepoint(connection: Connection, execute: Callable[[str], Any], order: _Order) -> None:
    # Straight to the driver, since the library's own savepoints take as long as the work between them.
    execute("SAVEPOINT work")
    try:
        order.result = _run_to_end(order.work(DirectTransaction(connection)))
    except Exception as error:
        order.error = error
        execute("ROLLBACK TO work")
    execute("RELEASE work")


def _run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing, without a loop."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.throw(RuntimeError("Work of the writer must not wait for anything but its transaction."))
    raise RuntimeError("Work of the writer went on waiting.")


def _answer(order: _Order) -> None:
    if order.answer.done():
        return
    if order.error is not None:
        order.answer.set_exception(order.error)
    else:
        order.answer.set_result(order.result)
