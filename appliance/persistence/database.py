"""Opens the database: SQLite's pragmas, a few connections that read, and the one writer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event, make_url, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from appliance.errors import DatabaseUnavailable
from appliance.persistence.writer import Transaction, Writer

__all__ = ["Database", "Transaction", "make_engine"]

_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 10000", "foreign_keys = ON")


class Database:
    """The open database. Whoever changes something submits it to `writer`; `read` is for everything else."""

    def __init__(self, url: str) -> None:
        self._engine = make_engine(url)
        self.writer = Writer(self._engine)

    async def open(self) -> None:
        """Start the writer and prove that the database answers; the tables are `migrate`'s business."""
        async with self.read():
            pass
        self.writer.start()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[Transaction]:
        """Give a connection that sees one consistent state and changes nothing; raises DatabaseUnavailable."""
        try:
            async with self._engine.connect() as connection:
                await connection.execution_options(reads_only=True)
                async with connection.begin():
                    yield connection
        except OperationalError as error:
            raise DatabaseUnavailable(
                f"The database cannot be read ({error.orig}); look at its disk and its owner."
            ) from error

    async def answers(self) -> bool:
        """Whether the database can be read now."""
        try:
            async with self.read() as connection:
                await connection.execute(text("SELECT 1 FROM alembic_version"))
        except DatabaseUnavailable:
            return False
        return True

    async def close(self) -> None:
        """Write what is queued and let go of all connections."""
        await self.writer.close()
        await self._engine.dispose()


def make_engine(url: str) -> AsyncEngine:
    """Return an engine for a SQLAlchemy URL; for SQLite the file's folder is made."""
    parsed = make_url(url)
    if not parsed.drivername.startswith("sqlite"):
        return create_async_engine(parsed, pool_size=5)
    if parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(parsed, pool_size=5, max_overflow=3)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
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
