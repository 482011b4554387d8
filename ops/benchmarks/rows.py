"""Rows that sessions hand in to be written, on demand: how many there were and how long each took.

A program that can be told to write obeys one line of standard input after the other: "write N" lets each session get
N rows a second (0: the next one as soon as the one before is committed), "pour N" lets it have N rows on their way
all the time, as a run does, "charge N" the same with a charge in each row; all go on until "rest".
"""

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.events import ActionCall, StepPlanned, TokenCount

SESSIONS = 8
UNDER_WAY = 4
"""Rows of a session that are on their way at once, as `runtime/settling.py` has it."""

_ANSWERS = os.dup(sys.stdout.fileno())

Append = Callable[[StepPlanned, bool], Awaitable[int]]
"""Writes a row, with a charge or without, and returns its number in its session when it is committed."""


@dataclass
class Producer:
    """One session: hands in rows, and notes how long each took and when each was handed in."""

    append: Append
    number: int = 0
    seconds: list[float] = field(default_factory=list[float])
    moments: dict[int, float] = field(default_factory=dict[int, float])

    async def write(self, rate: float) -> None:
        """Hand in one row after the other until cancelled, so many a second or, with 0, without a pause."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            await self._hand_in(is_charged=False)
            if rate:
                due += 1 / rate
                await asyncio.sleep(max(0.0, due - loop.time()))

    async def pour(self, under_way: int, *, is_charged: bool) -> None:
        """Have so many rows on their way until cancelled."""

        async def go_on() -> None:
            while True:
                await self._hand_in(is_charged=is_charged)

        async with asyncio.TaskGroup() as group:
            for _ in range(under_way):
                group.create_task(go_on())

    async def _hand_in(self, *, is_charged: bool) -> None:
        self.number += 1
        moment, begun = time.time(), time.perf_counter()
        sequence = await self.append(_make_step(self.number), is_charged)
        self.seconds.append(time.perf_counter() - begun)
        self.moments[sequence] = moment


async def obey(producers: Sequence[Producer]) -> None:
    """Do what standard input says until it ends; each line is answered."""
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin.buffer)
    tasks: list[asyncio.Task[None]] = []
    begun = 0.0
    while line := await commands.readline():
        command, *number = line.decode().split()
        if command == "rest":
            say(await _rest(producers, tasks, begun))
            tasks = []
        elif command == "moments":
            say({"moments": producers[0].moments})
        else:
            begun = time.perf_counter()
            for producer in producers:
                producer.seconds.clear()
                tasks.append(asyncio.create_task(_work(producer, command, float(number[0]))))
            say({})


def say(answer: dict[str, Any]) -> None:
    """Give an answer to whoever started this program."""
    os.write(_ANSWERS, json.dumps(answer).encode() + b"\n")


def keep_answers_clean() -> None:
    """Let whatever else is printed go to standard error, so that it does not get between the answers."""
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


async def _work(producer: Producer, command: str, number: float) -> None:
    if command == "write":
        await producer.write(number)
    else:
        await producer.pour(int(number), is_charged=command == "charge")


async def _rest(producers: Sequence[Producer], tasks: Sequence[asyncio.Task[None]], begun: float) -> dict[str, float]:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for failed in (task for task in tasks if not task.cancelled()):
        failed.result()
    seconds = [each for producer in producers for each in producer.seconds]
    p95 = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else 0.0
    return {"rows": len(seconds), "seconds": time.perf_counter() - begun, "p95": p95}


def _make_step(number: int) -> StepPlanned:
    return StepPlanned(
        step=number,
        see="A list of lamps with prices.",
        plan="Read every page of it.",
        move="Click “Next page”.",
        calls=(ActionCall(f"call-{number}", "click", {"index": 7}),),
        tokens=TokenCount(900, 4000, 0, 120),
        url="http://shop.example/lamps",
        title="All lamps",
        observe_ms=40,
        think_ms=1200,
    )
