"""How much of this machine's processor time is left over, as the kernel counts it."""

from pathlib import Path

_STAT = Path("/proc/stat")
_IDLE = slice(3, 5)
"""Where a line of counts has what was idle and what waited for a disk."""
_COUNTS = 8
"""The counts after these are parts of earlier ones."""


class Idleness:
    """Looks from one question to the next; the first looks back to when this was made."""

    def __init__(self, stat: Path = _STAT) -> None:
        self._stat = stat
        self._last = self._read()

    def share(self) -> float:
        """Return the share (0 to 1) of processor time left over since the last question; 1 where nobody counts it."""
        now, before = self._read(), self._last
        self._last = now
        spent = [later - earlier for earlier, later in zip(before, now, strict=False)]
        return sum(spent[_IDLE]) / whole if (whole := sum(spent)) > 0 else 1.0

    def _read(self) -> list[int]:
        try:
            first = self._stat.read_text().partition("\n")[0]
            return [int(count) for count in first.split()[1 : _COUNTS + 1]]
        except (OSError, ValueError):
            return []
