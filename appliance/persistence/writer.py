"""The one task that writes: it commits everything that has queued up in one transaction.

Each piece of work has its own savepoint, so one that fails takes nothing else with it. A caller gets its
result only after the commit, hence a signal sent afterwards never announces a row that is not there.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from appliance.errors import DatabaseUnavailable

T = TypeVar("T")
Transaction = AsyncConnection
"""What the functions of this package take: a connection inside a transaction."""

Work = Callable[[Transaction], Awaitable[Any]]

_LARGEST_BATCH = 256


@dataclass
class _Order:
    """A piece of work, who waits for it, and what came of it."""

    work: Work
    answer: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


class Writer:
    """Runs submitted work one piece after another and commits it in groups."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._queue: deque[_Order] = deque()
        self._waiting = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None

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

    async def submit(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Return what `work` returns, once it is committed; raises what it raises, with its changes undone.

        Raises DatabaseUnavailable when the database itself is out of order.

        `work` may only use the transaction: it holds up every other writer, and must not submit more work itself.
        Work that was begun is committed even when the caller is cancelled meanwhile.
        """
        if self._task is None or self._closing:
            raise RuntimeError("The database is not open for writing.")
        if asyncio.current_task() is self._task:
            raise RuntimeError("Work of the writer must not wait for more work of the writer.")
        order = _Order(work, asyncio.get_running_loop().create_future())
        self._queue.append(order)
        self._waiting.set()
        return await order.answer

    async def _run(self) -> None:
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            while self._queue:
                await self._write_batch(self._take_batch())
            if self._closing:
                return

    def _take_batch(self) -> list[_Order]:
        batch: list[_Order] = []
        while self._queue and len(batch) < _LARGEST_BATCH:
            order = self._queue.popleft()
            if not order.answer.cancelled():
                batch.append(order)
        return batch

    async def _write_batch(self, batch: list[_Order]) -> None:
        if not batch:
            return
        try:
            async with self._engine.begin() as transaction:
                for order in batch:
                    await _run_in_savepoint(transaction, order)
        except Exception as error:
            for order in batch:
                order.error = order.error or error
        for order in batch:
            _answer(order)


async def _run_in_savepoint(transaction: Transaction, order: _Order) -> None:
    savepoint = await transaction.begin_nested()
    try:
        order.result = await order.work(transaction)
        await savepoint.commit()
    except Exception as error:
        order.error = error
        await savepoint.rollback()


def _answer(order: _Order) -> None:
    if order.answer.done():
        return
    if order.error is not None:
        order.answer.set_exception(_translate(order.error))
    else:
        order.answer.set_result(order.result)


def _translate(error: Exception) -> Exception:
    """Return the error as callers know it: they are told of a database out of order without SQLAlchemy's words."""
    if not isinstance(error, OperationalError):
        return error
    unavailable = DatabaseUnavailable(f"The database cannot be written ({error.orig}); look at its disk and its owner.")
    unavailable.__cause__ = error
    return unavailable
