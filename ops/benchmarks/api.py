"""What the server costs its callers: GET session, rows written to feeds, feeds that are watched.

Asked over real connections while eight sessions are written to. "A second of processor" counts the answers by the
server's own processor time, so that whatever else the machine does is left out. The references are an ASGI application
of one line that answers JSON on the same uvicorn, and bare SQLite with a group commit.
"""

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil

from ops.benchmarks.load import Load, ask
from ops.benchmarks.measures import Figure
from ops.benchmarks.rows import UNDER_WAY

ROWS_A_SECOND = 10
"""Rows that a busy session is written in a second, many times what an agent at work writes."""

WATCHERS = 10
_CALLERS = 4
_TURNS = 8
_BARE = """
import socket, uvicorn, uvloop, asyncio, sys
body = b'{"id":"x","status":"running","output":' + b'[' + b','.join([b'"lamp"'] * 150) + b']}'
head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})
listener = socket.create_server(("127.0.0.1", 0))
print('{"port": %d}' % listener.getsockname()[1], flush=True)
config = uvicorn.Config(app, http="httptools", lifespan="off", log_config=None, access_log=False, server_header=False)
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(uvicorn.Server(config).serve(sockets=[listener]))
"""


class Served:
    """A server in a process of its own, with what it said about itself."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.facts = self._listen()
        self.port: int = self.facts["port"]

    def tell(self, command: str) -> dict[str, Any]:
        """Give a command and return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._listen()

    def used(self) -> float:
        """Return the seconds of processor time that the process has used."""
        return sum(psutil.Process(self._process.pid).cpu_times()[:2])

    def _listen(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The server ended; what it wrote on standard error says why.")
        return json.loads(line)


@contextlib.contextmanager
def serve(*command: str) -> Generator[Served]:
    """Start the Python program, wait until it serves, and end it."""
    with subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Served(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def measure_api(seconds: float = 4.0) -> list[Figure]:
    """Measure the calls and the feeds of one server, beside the bare one."""
    with serve("-c", _BARE) as bare:
        bare_load, bare_rate = _load(bare, "/", {}, 1, seconds)
        _, bare_crowd_rate = _load(bare, "/", {}, _CALLERS, seconds)
    bare_rate = max(bare_rate, bare_crowd_rate)
    with serve("-m", "ops.benchmarks.served") as served:
        path = f"/v3/sessions/{served.facts['session']}"
        headers = {"X-Browser-Use-API-Key": served.facts["key"]}
        ask(served.port, path, headers, seconds=0.5)  # What the first answers have to load is not measured.
        _, quiet_rate = _load(served, path, headers, _CALLERS, seconds)
        served.tell(f"write {ROWS_A_SECOND}")
        one, _ = _load(served, path, headers, 1, seconds)
        crowd, rate = _load(served, path, headers, _CALLERS, seconds)
        resting = served.tell("rest")
        figures = [
            Figure("GET session, median", one.median * 1000, "ms", 1, bare_load.median * 1000),
            Figure("GET session, a second", crowd.count / crowd.seconds, "answers", 2000),
            Figure("GET session, a second of processor", rate, "answers", 2000, bare_rate),
            Figure("GET session, nobody writes, a second of processor", quiet_rate, "answers", None, bare_rate),
            Figure("rows written to eight sessions meanwhile", resting["rows"] / resting["seconds"], "a second"),
            Figure("row written meanwhile, 95 of 100 are committed within", resting["p95"] * 1000, "ms"),
        ]
        watched = _measure_watchers(served)
        with serve("-m", "ops.benchmarks.bare_rows") as plain:
            return [*figures, *watched, *_measure_rows(served, plain, seconds)]


def _load(served: Served, path: str, headers: dict[str, str], callers: int, seconds: float) -> tuple[Load, float]:
    """Return what came of asking, and the answers for each second of the server's processor time."""
    used = served.used()
    load = ask(served.port, path, headers, callers=callers, seconds=seconds)
    return load, load.count / (served.used() - used)


@dataclass(frozen=True)
class _Rows:
    """What came of rows that were handed in: how many a second, and of processor time; seconds until committed."""

    rate: float
    processor_rate: float
    p95: float


def _write(served: Served, command: str, seconds: float) -> _Rows:
    used = served.used()
    served.tell(command)
    time.sleep(seconds)
    written = served.tell("rest")
    used = served.used() - used
    return _Rows(written["rows"] / written["seconds"], written["rows"] / used, written["p95"])


def _measure_rows(served: Served, plain: Served, seconds: float) -> list[Figure]:
    """Measure the writing beside the bare one in turns, since the disk is not always the same."""
    figures: list[Figure] = []
    for command, name in (
        ("write 0", "each waits for its last"),
        (f"pour {UNDER_WAY}", f"{UNDER_WAY} of each at once"),
    ):
        turns = [
            (_write(served, command, seconds / _TURNS), _write(plain, command, seconds / _TURNS)) for _ in range(_TURNS)
        ]
        own, bare = max((own for own, _ in turns), key=_rate), max((bare for _, bare in turns), key=_rate)
        figures += [
            Figure(f"feed rows of eight sessions, {name}", own.rate, "a second", 5000, bare.rate),
            Figure(f"feed rows, {name}, a second of processor", own.processor_rate, "rows", None, bare.processor_rate),
            Figure(f"feed row, {name}: 95 of 100 are committed within", own.p95 * 1000, "ms", 3, bare.p95 * 1000),
        ]
    charged = _write(served, f"charge {UNDER_WAY}", seconds)
    return [*figures, Figure("feed rows with a charge under three caps", charged.rate, "a second")]


def _rate(rows: _Rows) -> float:
    return rows.rate


def _measure_watchers(served: Served) -> list[Figure]:
    return asyncio.run(_watch(served))


async def _watch(served: Served, idle: float = 8.0) -> list[Figure]:
    """Follow one session's feed with ten watchers: what they cost while nothing happens, and when each row arrives."""
    moments = (await asyncio.to_thread(served.tell, "moments"))["moments"]
    path = f"{served.facts['feed']}&after={max(map(int, moments))}"
    watchers = [_Watcher() for _ in range(WATCHERS)]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}", timeout=30, trust_env=False) as http:
        watching = [asyncio.create_task(watcher.follow(http, path)) for watcher in watchers]
        for watcher in watchers:
            await watcher.is_there.wait()
        used = served.used()
        await asyncio.sleep(idle)
        share = (served.used() - used) / idle * 100
        await asyncio.to_thread(served.tell, "write 1")
        await asyncio.sleep(idle)
        await asyncio.to_thread(served.tell, "rest")
        await asyncio.sleep(1)
        for task in watching:
            task.cancel()
        await asyncio.wait(watching)
    moments = (await asyncio.to_thread(served.tell, "moments"))["moments"]
    arrivals = [arrival for watcher in watchers for arrival in watcher.rows.items()]
    # The row that was being written when the writers were stopped has no moment.
    delays = [at - moments[str(number)] for number, at in arrivals if str(number) in moments]
    return [
        Figure(f"{WATCHERS} idle watchers, share of a core", share, "%", 1),
        Figure("row handed in to fragment received, median", statistics.median(delays), "s", 0.1),
        Figure("row handed in to fragment received, slowest", max(delays), "s"),
    ]


@dataclass
class _Watcher:
    """A reader of a feed: when each row arrived, by its number."""

    rows: dict[int, float] = field(default_factory=dict[int, float])
    is_there: asyncio.Event = field(default_factory=asyncio.Event)

    async def follow(self, http: httpx.AsyncClient, path: str) -> None:
        """Read until cancelled."""
        async with http.stream("GET", path) as stream:
            async for line in stream.aiter_lines():
                self.is_there.set()
                if line.startswith("id: "):
                    self.rows[int(line[4:])] = time.time()
