"""The reference for rows that are written: SQLite and nothing else, with a group commit.

One thread inserts all rows that wait in one transaction; the table is that of the feed, the pragmas are the product's.
"""

import asyncio
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import uvloop

from appliance.events import StepPlanned, encode_event
from ops.benchmarks.rows import SESSIONS, Producer, keep_answers_clean, obey, say

_TABLE = """CREATE TABLE events (
    session_id TEXT NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
    PRIMARY KEY (session_id, sequence))"""


class _Writer:
    """Commits everything that has been handed in since it last did."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute(_TABLE)
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[tuple[tuple[str, int, str, str], asyncio.Future[None]]] = []
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            batch, self._waiting = self._waiting, []
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, [row for row, _ in batch])
            for _, committed in batch:
                if not committed.done():
                    committed.set_result(None)

    async def add(self, row: tuple[str, int, str, str]) -> None:
        """Return when the row is committed."""
        committed = asyncio.get_running_loop().create_future()
        self._waiting.append((row, committed))
        self._news.set()
        await committed

    def _write(self, rows: list[tuple[str, int, str, str]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        self._connection.execute("COMMIT")


def _make_producer(writer: _Writer) -> Producer:
    session, last = uuid4().hex, 0

    async def append(event: StepPlanned, _is_charged: bool) -> int:
        nonlocal last
        last += 1
        await writer.add((session, number := last, uuid4().hex, encode_event(event)))
        return number

    return Producer(append)


async def _serve(folder: Path) -> None:
    writer = _Writer(folder / "bare.db")
    writing = asyncio.create_task(writer.run())
    say({"port": 0})
    await obey([_make_producer(writer) for _ in range(SESSIONS)])
    writing.cancel()


if __name__ == "__main__":
    keep_answers_clean()
    with (
        tempfile.TemporaryDirectory(prefix="ph-bench-") as name,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_serve(Path(name)))
