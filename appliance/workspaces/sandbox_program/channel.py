"""The worker's end of the one channel to the server: lines of JSON, calls that wait, calls that are awaited."""

import asyncio
import itertools
import json
import os
import select
import threading
from typing import Any, cast

MOST_AT_ONCE = 8
"""Calls that may be under way at a time; the server reads no further calls beyond that."""
_CHUNK = 65_536


class Refused(Exception):
    """The server did not do what a script asked for; the message says why."""

    __module__ = "__main__"


class _Awaitable:
    """A value that may be awaited, too, since scripts are written either way."""

    def __await__(self) -> Any:
        return self
        yield


class Text(_Awaitable, str):
    """A text that may be awaited."""


class Fields(_Awaitable, dict[str, Any]):
    """An object that may be awaited."""


class Rows(_Awaitable, list[Any]):
    """A list that may be awaited."""


class Channel:
    """Lines to and from the server over one descriptor. Threads of a script may ask beside each other."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._rest = bytearray()
        self._sending = threading.Lock()
        self._reading = threading.Condition()
        self._is_watched = False
        self._numbers = itertools.count(1)
        self._answers: dict[int, dict[str, Any]] = {}
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._cells: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        loop.add_reader(descriptor, self._on_readable)

    def send(self, **message: Any) -> None:
        """Send one line; waits until the server has taken it. Raises TypeError or ValueError for what is no JSON."""
        text = json.dumps(message, ensure_ascii=False, allow_nan=False)
        data = text.encode("utf-8", "replace") + b"\n"
        with self._sending:
            while data:
                data = data[os.write(self._descriptor, data) :]

    async def next_cell(self) -> dict[str, Any]:
        """Return the next piece of a script that is to be run."""
        return await self._cells.get()

    async def ask(self, name: str, arguments: dict[str, Any]) -> Any:
        """Have the server do something and return the result; raises Refused."""
        async with self._room:
            number = next(self._numbers)
            future = self._waiting[number] = self._loop.create_future()
            try:
                self.send(kind="call", call=number, name=name, arguments=arguments)
                return _value(await future)
            finally:
                del self._waiting[number]

    def ask_now(self, name: str, arguments: dict[str, Any]) -> Any:
        """As `ask`, for functions that are not awaited: nothing else of the thread that asks goes on meanwhile."""
        number = next(self._numbers)
        self._answers[number] = {}
        try:
            self.send(kind="call", call=number, name=name, arguments=arguments)
            with self._reading:
                while not self._answers[number]:
                    self._watch()
        finally:
            answer = self._answers.pop(number)
        return _value(answer)

    def _watch(self) -> None:
        """Wait until something has come: one thread looks at the line for all of them."""
        if self._is_watched:
            self._reading.wait()
            return
        self._is_watched = True
        self._reading.release()
        try:
            select.select([self._descriptor], [], [])
        finally:
            self._reading.acquire()
            self._is_watched = False
            self._reading.notify_all()
        self._read()

    def _on_readable(self) -> None:
        with self._reading:
            if not self._is_watched and select.select([self._descriptor], [], [], 0)[0]:
                self._read()
                self._reading.notify_all()

    def _read(self) -> None:
        data = os.read(self._descriptor, _CHUNK)
        if not data:
            os._exit(0)
        self._rest += data
        while (end := self._rest.find(b"\n")) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("call")
        if number in self._answers:
            self._answers[number] = message
        else:
            # What belongs to the loop is left to it, whichever thread has read it.
            self._loop.call_soon_threadsafe(self._pass_on, message)

    def _pass_on(self, message: dict[str, Any]) -> None:
        if message["kind"] == "cell":
            self._cells.put_nowait(message)
        elif (future := self._waiting.get(message["call"])) is not None and not future.done():
            future.set_result(message)


def _value(answer: dict[str, Any]) -> Any:
    if answer.get("error") is not None:
        raise Refused(answer["error"])
    value = answer.get("value")
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, dict):
        return Fields(cast("dict[str, Any]", value))
    return Rows(cast("list[Any]", value)) if isinstance(value, list) else value
