"""What the functions of this package work with: a connection inside a transaction, with awaitable calls.

SQLAlchemy's own async layer goes to the driver's thread and back some four times a statement, which costs more than
SQLite does. Here a reader goes once a statement, and the writer once for a whole batch.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Executable
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError

from appliance.errors import DatabaseUnavailable
from appliance.persistence.prepared import Prepared

T = TypeVar("T")
Parameters = Mapping[str, Any]
"""Values for the parameters of a statement that is made once, which costs a quarter of making a new one each time; for
a prepared one it is a tenth."""


@dataclass(frozen=True)
class Result:
    """What a statement gave: its rows, all of them, and how many rows it changed."""

    rows: tuple[Any, ...]
    rowcount: int

    def first(self) -> Any:
        """Return the first row, if any."""
        return self.rows[0] if self.rows else None

    def scalar(self) -> Any:
        """Return the first value of the first row, None without rows."""
        return self.rows[0][0] if self.rows else None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


class Transaction(Protocol):
    """A transaction as the functions of this package see it."""

    async def execute(self, statement: Executable | Prepared, parameters: Parameters | None = None) -> Result:
        """Run the statement; raises DatabaseUnavailable when the database is out of order."""
        ...

    async def scalar(self, statement: Executable | Prepared, parameters: Parameters | None = None) -> Any:
        """Run the statement and return its first value."""
        ...


class DirectTransaction:
    """Works in the thread it is called in, so that awaiting it never waits for the loop."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def execute(self, statement: Executable | Prepared, parameters: Parameters | None = None) -> Result:
        """Run the statement."""
        return run_statement(self._connection, statement, parameters)

    async def scalar(self, statement: Executable | Prepared, parameters: Parameters | None = None) -> Any:
        """Run the statement and return its first value."""
        return run_statement(self._connection, statement, parameters).scalar()


class ThreadedTransaction:
    """Works in a thread of `executor` while the loop goes on; `begin` is called there with the first statement."""

    def __init__(self, begin: Callable[[], Connection], executor: Executor) -> None:
        self._begin = begin
        self._connection: Connection | None = None
        self._executor = executor

    async def execute(self, statement: Executable | Prepared, parameters: Parameters | None = None) -> Result:
        """Run the statement."""
        return await in_thread(self._executor, lambda: self._run(statement, parameters))

    def close(self) -> None:
        """End the transaction, which has changed nothing, so that this takes no time."""
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: Executable | Prepared, parameters: Parameters | None) -> Result:
        if self._connection is None:
            self._connection = self._begin()
        return run_statement(self._connection, statement, parameters)

    async def scalar(self, statement: Executable | Prepared, parameters: Parameters | None = None) -> Any:
        """Run the statement and return its first value."""
        return (await self.execute(statement, parameters)).scalar()


def run_statement(
    connection: Connection, statement: Executable | Prepared, parameters: Parameters | None = None
) -> Result:
    """Run the statement here and now and take all its rows."""
    try:
        if isinstance(statement, Prepared):
            return Result(*statement.run(connection, parameters or {}))
        cursor = connection.execute(statement, parameters)
        rows = tuple(cursor) if cursor.returns_rows else ()
    except OperationalError as error:
        raise explain(error) from error
    return Result(rows, cursor.rowcount)


def explain(error: OperationalError | sqlite3.OperationalError) -> DatabaseUnavailable:
    """Return the error as callers are told it, without the statement and its values."""
    cause = error.orig if isinstance(error, OperationalError) else error
    return DatabaseUnavailable(f"The database is out of order ({cause}); look at its disk and its owner.")


async def in_thread(executor: Executor, call: Callable[[], T]) -> T:
    """Return what `call` returns in a thread; when cancelled, wait for its end, since it uses what others use next."""
    running = asyncio.get_running_loop().run_in_executor(executor, call)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise
