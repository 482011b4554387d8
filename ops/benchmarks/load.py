"""A client that costs next to nothing: one request over and over on kept-alive connections, its bytes made once."""

import selectors
import socket
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """What came of it: answers in all and seconds passed; of each answer its seconds."""

    count: int
    seconds: float
    times: list[float]

    @property
    def median(self) -> float:
        """The middle of the answers' times in seconds."""
        return statistics.median(self.times)


@dataclass
class _Caller:
    """A connection that waits for an answer; `missing` bytes of it are not here yet, None before its head is."""

    stream: socket.socket
    sent: float = 0.0
    missing: int | None = None
    head: bytes = b""


def ask(port: int, path: str, headers: Mapping[str, str], *, callers: int = 1, seconds: float = 3.0) -> Load:
    """Ask for the path on so many connections, each again as soon as it is answered.

    Raises RuntimeError for an answer other than 200, and ConnectionError when the server hangs up.
    """
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    request = ("\r\n".join(lines) + "\r\n\r\n").encode()
    times: list[float] = []
    with selectors.DefaultSelector() as selector:
        crowd = [_Caller(socket.create_connection(("127.0.0.1", port))) for _ in range(callers)]
        begun = time.perf_counter()
        for caller in crowd:
            caller.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(caller.stream, selectors.EVENT_READ, caller)
            _send(caller, request)
        while time.perf_counter() - begun < seconds:
            for key, _ in selector.select(1.0):
                caller: _Caller = key.data
                if _has_answer(caller):
                    times.append(time.perf_counter() - caller.sent)
                    _send(caller, request)
        passed = time.perf_counter() - begun
        for caller in crowd:
            caller.stream.close()
    return Load(len(times), passed, times)


def _send(caller: _Caller, request: bytes) -> None:
    caller.missing, caller.head = None, b""
    caller.sent = time.perf_counter()
    caller.stream.sendall(request)


def _has_answer(caller: _Caller) -> bool:
    """Take in what has arrived; returns whether the answer is whole."""
    arrived = caller.stream.recv(65536)
    if not arrived:
        raise ConnectionError("The server hung up.")
    if caller.missing is None:
        caller.head += arrived
        head, end, arrived = caller.head.partition(b"\r\n\r\n")
        if not end:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"The server answered: {caller.head.decode(errors='replace')[:300]}")
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        caller.missing = int(length)
    caller.missing -= len(arrived)
    return caller.missing <= 0
