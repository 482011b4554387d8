"""The pause of a run, and the time that stands still in it.

Whatever is about to begin something waits here first; clocks of the run are made here, so that none of them runs on.
"""

import asyncio
import time
from types import TracebackType
from typing import Self


class Pause:
    """Whether one run stands still; used from its event loop alone. Times are in seconds.

    What has begun when the run is paused may come to its end; nothing new begins before it is resumed.
    """

    def __init__(self) -> None:
        self._count = 0
        self._since: float | None = None
        self._before = 0.0
        self._going_on = asyncio.Event()
        self._clocks: set[Clock] = set()

    @property
    def is_paused(self) -> bool:
        """Whether the run stands still now."""
        return self._since is not None

    @property
    def count(self) -> int:
        """How many pauses there were, a present one included."""
        return self._count

    @property
    def seconds(self) -> float:
        """How long the run has stood still so far, a present pause included."""
        return self._before + (0.0 if self._since is None else time.monotonic() - self._since)

    def time(self) -> float:
        """Return the time of the run: like time.monotonic, but standing still in every pause."""
        now = time.monotonic() if self._since is None else self._since
        return now - self._before

    def pause(self) -> bool:
        """Let the run stand still; returns False when it does already."""
        if self._since is not None:
            return False
        self._since = time.monotonic()
        self._count += 1
        self._going_on.clear()
        self._set_clocks()
        return True

    def resume(self) -> bool:
        """Let the run go on; returns False when it does not stand still."""
        if self._since is None:
            return False
        self._before, self._since = self.seconds, None
        self._going_on.set()
        self._set_clocks()
        return True

    async def wait(self) -> None:
        """Return at once while the run goes on, else when it does again; to be awaited before anything is begun."""
        while self.is_paused:
            await self._going_on.wait()

    async def sleep(self, seconds: float) -> None:
        """Return after so much of the run's time."""
        end = self.time() + seconds
        while (left := end - self.time()) > 0:
            await asyncio.sleep(left)
            await self.wait()

    def timeout(self, seconds: float | None) -> "Clock":
        """Return a time-out of so much of the run's time, None for one that is set later; see Clock."""
        return Clock(self, self._clocks, None if seconds is None else self.time() + seconds)

    def _set_clocks(self) -> None:
        for clock in self._clocks:
            clock.set()


class Clock:
    """A time-out in the time of a run, to be entered as a context like asyncio.timeout; stands still in a pause.

    Raises TimeoutError at its end when its time is up. `when` is in the time of the run, None for never.
    """

    def __init__(self, pause: Pause, clocks: "set[Clock]", when: float | None) -> None:
        self._pause = pause
        self._clocks = clocks
        self._when = when
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._clocks.add(self)
        self.set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._clocks.discard(self)
        return await self._timeout.__aexit__(kind, error, trace)

    @property
    def when(self) -> float | None:
        """When the time is up."""
        return self._when

    def expired(self) -> bool:
        """Whether the time was up."""
        return self._timeout.expired()

    def reschedule(self, when: float | None) -> None:
        """Let the time be up at another time of the run; to be called inside the context, before the time is up."""
        self._when = when
        self.set()

    def set(self) -> None:
        """Let the loop's own clock be as the run's is: stopped, or running until the time is up."""
        if self._timeout.expired():
            return
        if self._when is None or self._pause.is_paused:
            self._timeout.reschedule(None)
        else:
            now = asyncio.get_running_loop().time()
            self._timeout.reschedule(now + self._when - self._pause.time())
