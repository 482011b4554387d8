"""What the server and the process of a sandbox say to each other: lines of JSON, checked before they count.

The process runs code that a model wrote: nothing it says is believed, and what is no proper line ends it.
"""

import asyncio
import json
from typing import Any, TypeVar

import msgspec

from appliance.errors import ActionFailed

MAX_LINE = 12_000_000
"""Bytes of one line: a file of the scratchpad, with its signs escaped."""
MAX_CELL_BYTES = 60_000_000
"""Bytes that one piece of a script may send in all."""
MAX_CELL_LINES = 100_000
MAX_ARGUMENTS = 2_000_000
"""Bytes of a call's arguments: many small things in them take many times their room once they are read."""
_LARGE = 200_000
"""Bytes from which on a line is decoded beside the loop."""


class Ready(msgspec.Struct, tag_field="kind", tag="ready", forbid_unknown_fields=True):
    """The process is locked up; `is_confined` says whether by Landlock, too."""

    uid: int
    is_confined: bool


class NotLocked(msgspec.Struct, tag_field="kind", tag="refused", forbid_unknown_fields=True):
    """The process could not be locked up, and has ended."""

    reason: str


class Call(msgspec.Struct, tag_field="kind", tag="call", forbid_unknown_fields=True):
    """A script wants something done; `call` is the number its answer is given under."""

    call: int
    name: str
    arguments: msgspec.Raw

    def read(self) -> dict[str, Any]:
        """Return the arguments; raises ActionFailed for more than a call may have, texts of files not counted."""
        if len(self.arguments) <= MAX_ARGUMENTS:
            return msgspec.json.decode(self.arguments, type=dict[str, Any])
        try:
            return msgspec.json.decode(self.arguments, type=dict[str, str | bool])
        except msgspec.MsgspecError:
            raise ActionFailed(f"{self.name[:100]} was given too much; write it to a file first.") from None


class Printed(msgspec.Struct, tag_field="kind", tag="printed", forbid_unknown_fields=True):
    """A script printed something."""

    text: str


class Finished(msgspec.Struct, tag_field="kind", tag="finished", forbid_unknown_fields=True):
    """A piece of a script has ended: the value of its last expression as text, or its error."""

    cell: int
    value: str | None
    error: str | None


Said = Ready | NotLocked | Call | Printed | Finished
S = TypeVar("S")


class Gone(Exception):
    """The process has let go of the line, or said what it may not: `reason` is empty or says so."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Wire:
    """The server's end of the line to one process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._room = MAX_CELL_BYTES
        self._lines = MAX_CELL_LINES

    def begin(self) -> None:
        """Count anew what the process sends."""
        self._room = MAX_CELL_BYTES
        self._lines = MAX_CELL_LINES

    async def hear(self) -> Said:
        """Return what the process says next; raises Gone."""
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            raise Gone(f"it sent a line of more than {MAX_LINE} bytes") from error
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Gone from error
        self._room -= len(line)
        self._lines -= 1
        if self._room < 0 or self._lines < 0:
            raise Gone(f"it sent more than {MAX_CELL_BYTES} bytes or {MAX_CELL_LINES} lines")
        try:
            return await asyncio.to_thread(_decode, line) if len(line) > _LARGE else _decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise Gone("it sent what is no message") from error

    async def run(self, **cell: Any) -> None:
        """Have a piece of a script run; raises Gone."""
        await self._send({"kind": "cell", **cell})

    async def answer(self, call: int, value: Any) -> None:
        """Give a call its result; raises Gone."""
        await self._send({"kind": "answer", "call": call, "value": value})

    async def refuse(self, call: int, reason: str) -> None:
        """Tell a call why it was not done; raises Gone."""
        await self._send({"kind": "answer", "call": call, "error": reason})

    def close(self) -> None:
        """Let go of the line."""
        self._writer.close()

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            data = json.dumps(message, ensure_ascii=False).encode(errors="replace")
            self._writer.write(data + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise Gone from error


def _decode(line: bytes) -> Said:
    return msgspec.json.decode(line, type=Said)
