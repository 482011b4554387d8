"""The server that `ops/bench api` asks: a whole appliance with eight sessions that are written to on demand.

Run as a process of its own. It says on standard output where it is, then obeys one line of standard input after the
other: "write N" lets each session get N rows a second (0: one after the other, without a pause) until "rest", which
is answered with how many there were and how long they took; "moments" tells when each row of the first was handed in.
"""

import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import uvloop

from appliance.events import ActionCall, StepPlanned, TokenCount
from appliance.persistence.database import Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.runs import change_run, find_latest_run
from appliance.persistence.sessions import change_session
from appliance.runtime.assembly import Appliance, open_appliance
from appliance.runtime.links import LIVE_LIFETIME, live_path
from appliance.runtime.wishes import SessionWish
from appliance.settings import load_settings
from appliance.words import RunStatus, SessionStatus
from web.auth import new_key
from web.cli.logs import set_up_logging
from web.cli.serve import make_server

SESSIONS = 8
_ANSWERS = os.dup(sys.stdout.fileno())
OUTPUT = {"wares": [{"name": f"Lamp {number}", "price": number + 0.5, "currency": "EUR"} for number in range(5)]}


@dataclass
class Writing:
    """One session's writer: it appends steps and notes how long each took until it was committed."""

    appliance: Appliance
    session_id: UUID
    run_id: UUID
    steps: int = 0
    seconds: list[float] = field(default_factory=list[float])
    moments: dict[int, float] = field(default_factory=dict[int, float])

    async def write(self, rate: float) -> None:
        """Append until cancelled."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            self.steps += 1
            call = ActionCall(f"call-{self.steps}", "click", {"index": 7})
            moment, begun = time.time(), time.perf_counter()
            record = await self.appliance.feed.append(self.session_id, self.run_id, _make_step(self.steps, call))
            self.seconds.append(time.perf_counter() - begun)
            self.moments[record.sequence] = moment
            if rate:
                due += 1 / rate
                await asyncio.sleep(max(0.0, due - loop.time()))


def _make_step(number: int, call: ActionCall) -> StepPlanned:
    return StepPlanned(
        step=number,
        see="A list of lamps with prices.",
        plan="Read every page of it.",
        move="Click “Next page”.",
        calls=(call,),
        tokens=TokenCount(900, 4000, 0, 120),
        url="http://shop.example/lamps",
        title="All lamps",
        observe_ms=40,
        think_ms=1200,
    )


async def _open_session(appliance: Appliance) -> Writing:
    session = await appliance.sessions.create(
        SessionWish(task="Read every lamp at http://shop.example", model="autopilot")
    )

    async def begin(transaction: Transaction) -> UUID:
        run = await find_latest_run(transaction, session.id)
        assert run is not None
        await change_run(transaction, run.id, status=RunStatus.RUNNING)
        await change_session(
            transaction, session.id, status=SessionStatus.RUNNING, output=OUTPUT, screenshot="0001.jpg"
        )
        return run.id

    return Writing(appliance, session.id, await appliance.database.writer.submit(begin))


async def _obey(writings: list[Writing]) -> None:
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin.buffer)
    tasks: list[asyncio.Task[None]] = []
    begun = 0.0
    while line := await commands.readline():
        words = line.decode().split()
        if words[0] == "write":
            begun = time.perf_counter()
            for writing in writings:
                writing.seconds.clear()
                tasks.append(asyncio.create_task(writing.write(float(words[1]))))
            _say({})
        elif words[0] == "rest":
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for failed in (task for task in tasks if not task.cancelled()):
                failed.result()
            tasks.clear()
            seconds = [each for writing in writings for each in writing.seconds]
            _say({"rows": len(seconds), "seconds": time.perf_counter() - begun, "p95": _p95(seconds)})
        else:
            _say({"moments": writings[0].moments})


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else 0.0


def _say(answer: dict[str, Any]) -> None:
    os.write(_ANSWERS, json.dumps(answer).encode() + b"\n")


async def _serve(folder: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    settings = load_settings(data_dir=folder / "data", run_dir=folder / "run", port=port, log_level="warning")
    set_up_logging(settings)
    key = new_key()
    async with open_appliance(settings) as appliance:
        # The only slot is taken, so that the runs wait for what is written here instead of a worker.
        appliance.pool.try_lease()
        await appliance.database.writer.submit(lambda transaction: add_key(transaction, "bench", key))
        writings = [await _open_session(appliance) for _ in range(SESSIONS)]
        first = writings[0].session_id
        path = live_path(first)
        link = appliance.signer.link("", path, LIVE_LIFETIME)
        server = make_server(appliance)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
        _say({"port": port, "key": key, "session": str(first), "feed": link.replace(path, f"{path}/feed", 1)})
        await _obey(writings)
        server.should_exit = True
        await serving


def main() -> None:
    """Serve until standard input ends."""
    # What is logged must not get between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with (
        tempfile.TemporaryDirectory(prefix="ph-bench-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_serve(Path(folder)))


if __name__ == "__main__":
    main()
