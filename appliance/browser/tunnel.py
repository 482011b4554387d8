"""One connection of a browser through the relay: the SOCKS greeting, then bytes both ways at the slower one's pace."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

from appliance.errors import PilothouseError

VERSION, NO_SIGN_IN, CONNECT = 5, 0, 1
IPV4, NAME, IPV6 = 1, 3, 4
DONE, UNREACHABLE, UNKNOWN_COMMAND = 0, 4, 7
LONGEST_GREETING = 600


class _End(asyncio.Protocol):
    """One end of a tunnel; what arrives is written to the other."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: _End | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the open connection."""
        # Not asserted: the transports of other loops are no subclass.
        self.transport = cast("asyncio.Transport", transport)
        connection = transport.get_extra_info("socket")
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        """Pass on that nothing more comes, and keep the way back open."""
        if self.other is None or self.other.transport is None or not self.other.transport.can_write_eof():
            return False
        with suppress(OSError):
            self.other.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        """Read no more from the other end while this one does not take it."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read on."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the other end too, cutting it off if this one was."""
        self.transport = None
        other = self.other.transport if self.other is not None else None
        if other is not None:
            other.abort() if exc is not None else other.close()


class Reached(_End):
    """The end at the site; what it says before `begin` waits until then."""

    def __init__(self) -> None:
        super().__init__()
        self._early = bytearray()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, or keep the first ones."""
        if self.other is not None:
            super().data_received(data)
            return
        self._early += data
        if self.transport is not None:
            self.transport.pause_reading()

    def begin(self, other: "Tunnel") -> None:
        """Pass on to the other end what has arrived and what arrives from now on."""
        self.other = other
        if self._early:
            super().data_received(bytes(self._early))
            self._early.clear()
            if self.transport is not None:
                self.transport.resume_reading()

    @property
    def is_this_machine(self) -> bool:
        """Whether the connection leads to this machine itself, by whatever address."""
        assert self.transport is not None
        own, peer = self.transport.get_extra_info("sockname"), self.transport.get_extra_info("peername")
        return own[0] == peer[0]

    def cut(self) -> None:
        """Close the connection at once."""
        if self.transport is not None:
            self.transport.abort()


class Tunnel(_End):
    """The end at the browser. `reach` opens what it asks for, or raises OSError; `group` holds it while it is open."""

    def __init__(self, reach: Callable[[str, int], Awaitable[Reached]], group: "set[Tunnel]") -> None:
        super().__init__()
        self._reach = reach
        self._group = group
        self._greeting = bytearray()
        self._greeted = False
        self._reaching: asyncio.Task[None] | None = None

    def abort(self) -> None:
        """Cut the connection."""
        if self._reaching is not None:
            self._reaching.cancel()
        if isinstance(self.other, Reached):
            # One that takes no more would hold on to what is left to be written.
            self.other.cut()
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the greeting."""
        super().connection_made(transport)
        self._group.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up what is being reached."""
        self._group.discard(self)
        if self._reaching is not None:
            self._reaching.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read the greeting and the request, then pass bytes on."""
        if self.other is not None:
            super().data_received(data)
            return
        self._greeting += data
        assert self.transport is not None
        if len(self._greeting) > LONGEST_GREETING or (self._reaching is None and self._greeting[0] != VERSION):
            self.transport.abort()
            return
        if not self._greeted:
            self._greet()
        if self._greeted and self._reaching is None:
            self._read_request()

    def _greet(self) -> None:
        if len(self._greeting) < 2 or len(self._greeting) < 2 + self._greeting[1]:
            return
        del self._greeting[: 2 + self._greeting[1]]
        self._greeted = True
        self._answer(bytes((VERSION, NO_SIGN_IN)))

    def _read_request(self) -> None:
        request = bytes(self._greeting)
        if len(request) < 5:
            return
        kind = request[3]
        size = {IPV4: 4, IPV6: 16, NAME: request[4] + 1}.get(kind)
        if size is None or request[1] != CONNECT:
            self._refuse(UNKNOWN_COMMAND)
            return
        if len(request) < 4 + size + 2:
            return
        field = request[4 : 4 + size]
        if kind == NAME:
            host = field[1:].decode("ascii", "replace")
        else:
            host = socket.inet_ntop(socket.AF_INET if kind == IPV4 else socket.AF_INET6, field)
        (port,) = struct.unpack("!H", request[4 + size : 6 + size])
        del self._greeting[: 6 + size]
        self._reaching = asyncio.get_running_loop().create_task(self._open(host, port))

    async def _open(self, host: str, port: int) -> None:
        try:
            reached = await self._reach(host, port)
        except (OSError, PilothouseError):
            self._refuse(UNREACHABLE)
            return
        if self.transport is None or reached.transport is None:
            reached.cut()
            self.abort()
            return
        self.other = reached
        self._answer(bytes((VERSION, DONE, 0, IPV4)) + bytes(6))
        reached.begin(self)
        if self._greeting:
            reached.transport.write(bytes(self._greeting))
            self._greeting.clear()

    def _refuse(self, reason: int) -> None:
        self._answer(bytes((VERSION, reason, 0, IPV4)) + bytes(6))
        if self.transport is not None:
            self.transport.close()

    def _answer(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)
