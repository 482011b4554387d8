"""One raw DevTools socket to Chromium: commands with deadlines, events, and a clear end when the browser goes away.

Sessions are flat: a command or event of a tab or frame carries its session id on the same socket.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from appliance.errors import BrowserLost, BrowserUnavailable, PilothouseError
from appliance.surrogates import make_whole

Handler = Callable[[dict[str, Any], str], None]
"""Called with the parameters of an event and the id of its session ("" for the browser itself)."""

LOST = "The browser went away; the run cannot go on in it."
OPEN_SECONDS = 15.0

_log = structlog.get_logger()


class CdpError(PilothouseError):
    """Chromium refused a command or did not answer it in time; `method` names the command."""

    def __init__(self, message: str, *, method: str, code: int = 0) -> None:
        super().__init__(message)
        self.method = method
        self.code = code


class CdpTimeout(CdpError):
    """Chromium did not answer in time; it may still carry the command out."""


class SessionGone(CdpError):
    """The tab or frame that a command was meant for is closed or has crashed."""


class _Incoming(msgspec.Struct):
    id: int = 0
    method: str = ""
    params: dict[str, Any] = {}
    result: dict[str, Any] = {}
    error: dict[str, Any] | None = None
    sessionId: str = ""  # noqa: N815 - the wire's name


class _Pending(msgspec.Struct):
    future: asyncio.Future[dict[str, Any]]
    method: str
    session_id: str


class CdpConnection:
    """A DevTools socket. `closed` is set once it is gone, after which every command raises BrowserLost.

    `address` is where it was opened.
    """

    def __init__(self, socket: ClientConnection, address: str) -> None:
        """Take over an open socket; use `connect`."""
        self.address = address
        self.closed = asyncio.Event()
        self._socket = socket
        self._pending: dict[int, _Pending] = {}
        self._handlers: dict[str, list[Handler]] = {}
        self._last_id = 0
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder(_Incoming).decode
        self._reader = asyncio.create_task(self._read(), name="cdp reader")

    @classmethod
    async def connect(cls, websocket_url: str) -> "CdpConnection":
        """Open the socket at a `ws://` address; raises BrowserUnavailable when nothing answers there."""
        try:
            socket = await connect(
                websocket_url,
                max_size=None,
                compression=None,
                ping_interval=None,
                open_timeout=OPEN_SECONDS,
                proxy=None,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI) as error:
            raise BrowserUnavailable(
                f"The browser does not answer at {websocket_url} ({error}); see whether Chromium still runs."
            ) from error
        return cls(socket, websocket_url)

    async def send(
        self, method: str, params: dict[str, Any] | None = None, session_id: str = "", timeout: float = 10.0
    ) -> dict[str, Any]:
        """Send a command and return its result.

        Raises BrowserLost when the socket is gone, SessionGone when the session is, CdpTimeout after `timeout`
        seconds and CdpError when Chromium refuses the command.
        """
        future = self.post(method, params, session_id)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError as error:
            raise CdpTimeout(f"The browser did not answer {method} within {timeout:g} s.", method=method) from error

    def post(
        self, method: str, params: dict[str, Any] | None = None, session_id: str = ""
    ) -> asyncio.Future[dict[str, Any]]:
        """Send a command at once and return the future of its result; nobody has to wait for it."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_retrieve)
        if self.closed.is_set():
            future.set_exception(BrowserLost(LOST))
            return future
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method}
        if params:
            message["params"] = params
        if session_id:
            message["sessionId"] = session_id
        self._pending[self._last_id] = _Pending(future, method, session_id)
        try:
            data = self._encode(message)
        except UnicodeEncodeError:
            # Half a character, as models write where a text is cut: only Python's own encoder takes it.
            data = make_whole(json.dumps(message)).encode()
        self._write(data)
        return future

    def on(self, event: str, handler: Handler) -> Callable[[], None]:
        """Call `handler` with each such event, inside the reader: it must be quick. Returns what ends it."""
        handlers = self._handlers.setdefault(event, [])
        handlers.append(handler)

        def remove() -> None:
            with suppress(ValueError):
                handlers.remove(handler)

        return remove

    async def wait_for(
        self, event: str, predicate: Callable[[dict[str, Any], str], bool] | None = None, timeout: float = 10.0
    ) -> dict[str, Any]:
        """Return the parameters of the next such event; raises CdpTimeout, or BrowserLost when the socket goes."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

        def take(params: dict[str, Any], session_id: str) -> None:
            if not future.done() and (predicate is None or predicate(params, session_id)):
                future.set_result(params)

        remove = self.on(event, take)
        gone = asyncio.create_task(self.closed.wait())
        try:
            await asyncio.wait((future, gone), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            remove()
            gone.cancel()
        if future.done():
            return future.result()
        if self.closed.is_set():
            raise BrowserLost(LOST)
        raise CdpTimeout(f"The browser sent no {event} within {timeout:g} s.", method=event)

    def end_session(self, session_id: str, reason: str) -> None:
        """Fail every command that waits for this session."""
        for number, pending in list(self._pending.items()):
            if pending.session_id == session_id:
                del self._pending[number]
                if not pending.future.done():
                    pending.future.set_exception(SessionGone(reason, method=pending.method))

    async def close(self) -> None:
        """Close the socket; the browser stays."""
        with suppress(ConnectionClosed, OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._socket.close()
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader
        self._end()

    def _write(self, data: bytes) -> None:
        # One frame per message, in order: the transport buffers, so no task has to wait for it.
        task = asyncio.ensure_future(self._socket.send(data, text=True))
        task.add_done_callback(_retrieve)

    async def _read(self) -> None:
        try:
            while True:
                self._take(await self._socket.recv(decode=False))
        except ConnectionClosed:
            pass
        finally:
            self._end()

    def _take(self, data: bytes) -> None:
        try:
            message = self._read_message(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            _log.warning("browser sent a message that is not JSON", size=len(data))
            return
        if message.id:
            pending = self._pending.pop(message.id, None)
            if pending is None or pending.future.done():
                return
            if message.error is None:
                pending.future.set_result(message.result)
            else:
                pending.future.set_exception(_as_error(message.error, pending.method))
            return
        for handler in tuple(self._handlers.get(message.method, ())):
            handler(message.params, message.sessionId)

    def _read_message(self, data: bytes) -> _Incoming:
        try:
            return self._decode(data)
        except msgspec.DecodeError:
            # Text of a page may hold half a character.
            return self._decode(make_whole(data.decode()))

    def _end(self) -> None:
        if self.closed.is_set():
            return
        self.closed.set()
        pending, self._pending = self._pending, {}
        for one in pending.values():
            if not one.future.done():
                one.future.set_exception(BrowserLost(LOST))


def _as_error(error: dict[str, Any], method: str) -> CdpError:
    text, code = str(error.get("message", "")), int(error.get("code", 0))
    if code == -32001 or "Session with given id not found" in text:
        return SessionGone("The tab was closed.", method=method, code=code)
    return CdpError(f"The browser refused {method}: {text}.", method=method, code=code)


def _retrieve(future: "asyncio.Future[Any]") -> None:
    # Looks at the exception, so that one nobody waits for is not reported as lost.
    if not future.cancelled():
        future.exception()
