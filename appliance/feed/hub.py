"""Wakes whoever waits for news of a session. It carries no news: readers look at the rows after their last one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID


class Watch:
    """One reader's bell; it stays rung until the reader has heard it, so no news between two waits is missed."""

    def __init__(self) -> None:
        self._bell = asyncio.Event()

    def ring(self) -> None:
        """Tell the reader that there may be news."""
        self._bell.set()

    async def wait(self, timeout: float) -> bool:
        """Wait for news, `timeout` seconds at most; returns whether there was a signal.

        A reader looks at the rows in either case, so that a lost signal only delays it.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._bell.wait()
        except TimeoutError:
            return False
        self._bell.clear()
        return True


class Hub:
    """Keeps the watches by session; those under None watch every session."""

    def __init__(self) -> None:
        self._watches: dict[UUID | None, set[Watch]] = {}

    def signal(self, session_id: UUID) -> None:
        """Wake the readers of this session and those of all sessions."""
        for key in (session_id, None):
            for watch in self._watches.get(key, ()):
                watch.ring()

    @asynccontextmanager
    async def watch(self, session_id: UUID | None = None) -> AsyncGenerator[Watch]:
        """Give a watch on one session, or on every session when none is named.

        Begin to watch before the first look at the rows: what is written between the two then rings the bell.
        """
        watch = Watch()
        watches = self._watches.setdefault(session_id, set())
        watches.add(watch)
        try:
            yield watch
        finally:
            watches.discard(watch)
            if not watches and self._watches.get(session_id) is watches:
                del self._watches[session_id]
