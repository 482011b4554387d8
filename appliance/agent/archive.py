"""The evidence archive: what leaves the prompt window, in full, in files that the agent can read again.

Numbered Markdown files in the scratchpad, each short enough to be read at once. Pictures are left out, and secrets by
the function that is given for it. Writing appends, so the cost of a step does not grow with the steps before it.
"""

import os
from collections.abc import Callable
from pathlib import Path

import structlog

MAX_PART = 40_000
MAX_PARTS = 100

log = structlog.get_logger()


class Archive:
    """The archive of one session, in `folder`; a later run that begins anew goes on in a new file.

    `redact` returns a text without what must not be written down.
    """

    def __init__(self, folder: Path, redact: Callable[[str], str] = str) -> None:
        self._folder = folder
        self.redact = redact
        self._first = self._part = _last_part(folder) + 1
        self._size = 0
        self._is_broken = False

    @property
    def names(self) -> str:
        """The names of this run's files in words, "evidence_1.md to evidence_3.md"; empty while nothing is kept."""
        if not self._size or self._is_broken:
            return ""
        first, last = _name(self._first), _name(self._part)
        return first if first == last else f"{first} to {last}"

    def keep(self, text: str) -> None:
        """Add a text. A disk that cannot take it is logged, and the archive is not named any more."""
        if self._is_broken:
            return
        data = f"{self.redact(text).strip()}\n\n".encode()
        if self._size and self._size + len(data) > MAX_PART:
            self._part, self._size = self._part + 1, 0
        if self._part - self._first >= MAX_PARTS:
            return
        try:
            _append(self._folder / _name(self._part), data)
        except OSError as error:
            self._is_broken = True
            log.warning("the evidence archive cannot be written", reason=error.strerror)
        self._size += len(data)


def is_evidence(name: str) -> bool:
    """Whether a file name is that of an archive."""
    return name.startswith("evidence_")


def _name(part: int) -> str:
    return f"evidence_{part}.md"


def _last_part(folder: Path) -> int:
    """Return the highest number there is; 0 without any."""
    numbers = (path.stem.removeprefix("evidence_") for path in folder.glob("evidence_*.md"))
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def _append(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
