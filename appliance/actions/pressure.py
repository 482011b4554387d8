"""Holds back the opening of many pages while other sessions want the same processor."""

from collections.abc import Callable
from dataclasses import dataclass

BUSY_SESSIONS = 2
STALLED_FROM = 0.05
"""Share of the time in which something waited for a processor, from which on one holds back."""
SECONDS_PER_STALL = 0.8
SECONDS_PER_WAVE = 8.0


@dataclass(frozen=True)
class Pressure:
    """How hard the machine is pressed: sessions at work, and the share of time in which work waits for a processor."""

    sessions: Callable[[], int] = lambda: 1
    stall: Callable[[], float] = lambda: 0.0

    def gap(self, tabs: int) -> float:
        """Return the seconds to leave between pages that so many tabs open; 0 unless several sessions stall."""
        if self.sessions() < BUSY_SESSIONS:
            return 0.0
        stall = self.stall()
        if stall < STALLED_FROM:
            return 0.0
        return min(SECONDS_PER_STALL * stall, SECONDS_PER_WAVE / max(tabs - 1, 1))
