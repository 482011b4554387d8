"""Shows a script to people while the model still writes it: finds it in the beginning of a reply and hands it on."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from appliance.surrogates import make_whole

PAUSE = 0.35
"""Seconds between two looks at what has been written."""
UNNAMED = "script.py"
_CALL = re.compile(r'"run_code_file"\s*:\s*\{')
_TEXT = r'"((?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+)'
_NAME = re.compile(rf'"name"\s*:\s*{_TEXT}"')
_CODE = re.compile(rf'"code"\s*:\s*{_TEXT}')

Show = Callable[[str, str], Coroutine[Any, Any, None]]
"""Shows a script's name and its code as far as it has come."""


@dataclass(frozen=True)
class Forming:
    """A script as far as it has come."""

    name: str
    code: str


def find_forming(text: str) -> Forming | None:
    """Return the last script that the beginning of a reply writes, None when there is none with code yet."""
    calls = list(_CALL.finditer(text))
    if not calls:
        return None
    rest = text[calls[-1].end() :]
    code = _CODE.search(rest)
    if code is None:
        return None
    # The code may say itself what looks like a name.
    name = _NAME.search(rest[: code.start()]) or _NAME.search(rest, code.end())
    return Forming(_decoded(name[1]) if name else UNNAMED, _decoded(code[1]))


class Writing:
    """Takes the pieces of a reply and has the script in it shown, now and then and never in the model's way."""

    def __init__(self, show: Show, pause: float = PAUSE) -> None:
        self._show = show
        self._pause = pause
        self._pieces: list[str] = []
        self._next = 0.0
        self._showing: asyncio.Task[None] | None = None

    async def take(self, piece: str) -> None:
        """Take the next piece of the reply."""
        self._pieces.append(piece)
        now = time.monotonic()
        if now >= self._next and (self._showing is None or self._showing.done()):
            self._next = now + self._pause
            text = "".join(self._pieces)
            self._pieces = [text]
            if (forming := find_forming(text)) is not None:
                self._showing = asyncio.create_task(self._show(forming.name, forming.code))

    async def finish(self) -> None:
        """Wait until nothing is on its way to be shown any more."""
        showing, self._showing = self._showing, None
        if showing is not None:
            await asyncio.gather(showing, return_exceptions=True)


def _decoded(text: str) -> str:
    try:
        return make_whole(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text
