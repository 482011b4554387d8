"""Keeps what was read for as long as the database stays as it was, and not a moment longer.

SQLite tells a connection whether any other one, of this process or another, has committed since it last asked; that
takes a few microseconds, so it is asked in the loop's own thread before every use.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy.engine import Engine
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import OperationalError

T = TypeVar("T")
_MOST_KEPT = 4096


class Freshness:
    """What was read under the newest version of the database that was seen; belongs to the loop's thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asking: DBAPICursor | None = None
        self._release: Callable[[], None] | None = None
        self._version: int | None = None
        # A new one with every version, since numbers of two connections may be the same.
        self._kept: dict[Hashable, Any] = {}

    async def get(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Return what is kept under the key, or what `read` returns now; what it raises is not kept."""
        version = self._ask()
        if version is None:
            return await read()
        if version != self._version or len(self._kept) >= _MOST_KEPT:
            self._kept = {}
            self._version = version
        kept = self._kept
        if key not in kept:
            # When a later version is seen meanwhile, this goes where nobody looks any more.
            kept[key] = await read()
        return kept[key]

    def close(self) -> None:
        """Let go of the connection."""
        self._kept = {}
        self._version = None
        if self._release is not None:
            self._release()
        self._asking = self._release = None

    def _ask(self) -> int | None:
        """Return a number that differs after every commit of others; None when the database cannot say."""
        with suppress(sqlite3.Error, OperationalError):
            if self._asking is None:
                self._asking = self._connect()
            self._asking.execute("PRAGMA data_version")
            return next(iter(self._asking.fetchall()))[0]
        self.close()
        return None

    def _connect(self) -> DBAPICursor:
        connection = self._engine.raw_connection()
        # The loop never waits for a lock: without an answer at once it reads instead.
        cursor: DBAPICursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout = 0")
        self._release = connection.invalidate
        return cursor
