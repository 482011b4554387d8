"""Opens the database: SQLite's pragmas, a few connections that read, and the one writer."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import create_engine, event, make_url, text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ArgumentError, OperationalError

from appliance.errors import DatabaseUnavailable, SettingsInvalid
from appliance.persistence.freshness import Freshness
from appliance.persistence.transaction import ThreadedTransaction, Transaction, explain
from appliance.persistence.writer import Writer

__all__ = ["Database", "Transaction", "make_engine"]

T = TypeVar("T")
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 10000", "foreign_keys = ON")
_READERS = 4


class Database:
    """The open database. Whoever changes something submits it to `writer`; `read` is for everything else."""

    def __init__(self, url: str) -> None:
        self._engine = make_engine(url)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="database reader")
        # As many readers as threads: one that waited for a connection could hold the thread that gives it back.
        self._seats = asyncio.Semaphore(_READERS)
        self._freshness = Freshness(self._engine)
        self.writer = Writer(self._engine)

    async def open(self) -> None:
        """Start the writer and prove that the database answers; the tables are `migrate`'s business."""
        async with self.read() as transaction:
            await transaction.execute(text("SELECT 1"))
        self.writer.start()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[Transaction]:
        """Give a transaction that sees one consistent state, that of its first statement, and changes nothing.

        There are four at a time: do not hold one while waiting for anything else, another one included.
        """
        async with self._seats:
            transaction = ThreadedTransaction(self._begin_to_read, self._readers)
            try:
                yield transaction
            finally:
                transaction.close()

    async def read_kept(self, key: Hashable, read: Callable[[Transaction], Awaitable[T]]) -> T:
        """Return what `read` makes of a reading transaction, or made of one since which nothing was committed.

        The key stands for all that the result depends on beside the database. Nobody may change the result, since
        others are given it too. Raises what `read` raises.
        """

        async def look() -> T:
            async with self.read() as transaction:
                return await read(transaction)

        return await self._freshness.get(key, look)

    async def answers(self) -> bool:
        """Whether the database can be read now."""
        try:
            async with self.read() as transaction:
                await transaction.execute(text("SELECT 1 FROM alembic_version"))
        except DatabaseUnavailable:
            return False
        return True

    async def close(self) -> None:
        """Write what is queued and let go of all connections."""
        await self.writer.close()
        self._freshness.close()
        self._readers.shutdown(wait=False)
        self._engine.dispose()

    def _begin_to_read(self) -> Connection:
        try:
            connection = self._engine.connect().execution_options(reads_only=True)
            connection.begin()
        except OperationalError as error:
            raise explain(error) from error
        return connection


def make_engine(url: str) -> Engine:
    """Return an engine for a SQLite address, whatever its driver; the file's folder is made.

    Raises SettingsInvalid for any other address.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingsInvalid("DATABASE_URL is no address; write sqlite:////folder/file.db or leave it out.") from error
    if not parsed.drivername.startswith("sqlite"):
        raise SettingsInvalid(
            f"DATABASE_URL names {parsed.drivername}, which cannot be used yet; write sqlite:////folder/file.db."
        )
    if parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    # A connection is used by one thread at a time, but not always by the same.
    engine = create_engine(
        parsed.set(drivername="sqlite"),
        # Beside the readers, the writer and the connection that asks whether anything was committed.
        pool_size=_READERS + 2,
        connect_args={"check_same_thread": False},
        # Values of a failed statement, password hashes among them, must not get into its message.
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # Python's driver would begin transactions late and not at all around savepoints: SQLAlchemy begins them instead.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once, since one that began by reading could be refused it later.
    reads_only = connection.get_execution_options().get("reads_only")
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
