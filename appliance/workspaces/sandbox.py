"""Where the scripts of one run work: a locked-up process with a namespace that lasts until the process has to go.

It is started with the first script and ended with the run. A script that takes too long, says what it may not or dies
costs its variables only: the next one gets a fresh process.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec

from appliance.errors import ActionFailed, MachineFault
from appliance.pause import Pause
from appliance.workspaces.sandbox_start import Running, Starter
from appliance.workspaces.sandbox_wire import MAX_LINE, Call, Finished, Gone, NotLocked, Printed, Ready, Wire

CELL_SECONDS = 120.0
SCRIPT_SECONDS = 300.0
START_SECONDS = 20.0
END_SECONDS = 5.0
MOST_KEPT = 1_000_000
"""Characters that are kept of what one script prints, of its value, and of its error."""
_AT_ONCE = 8
"""Calls that are done beside each other."""
_MOST_WAITING = 64
"""Calls that may be under way: every thread of a script may have one, beside those that are awaited."""
_MARKER = re.compile(r"^# ?%%.*$", re.MULTILINE)


@dataclass(frozen=True)
class Functions:
    """What scripts may call: `names` are offered in their namespace, with parameters, beside what is always there.

    `call` does it and returns a JSON value; it raises ActionFailed for what the script shall hear of.
    """

    names: Mapping[str, tuple[str, ...]]
    call: Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass
class ScriptRun:
    """What came of a script: `printed` of all its pieces, the last one's value, what it failed with.

    `lost` says, in a clause, why the process had to go and the variables with it, "" when it lives on.
    """

    printed: str = ""
    value: str | None = None
    error: str | None = None
    lost: str = ""
    duration: float = 0.0


@dataclass
class _Worker:
    running: Running
    wire: Wire
    is_confined: bool


@dataclass
class _Piece:
    """A part of a script between two markers."""

    code: str
    lines_before: int


@dataclass
class Sandbox:
    """The process of one run's scripts."""

    starter: Starter
    cell_seconds: float = CELL_SECONDS
    script_seconds: float = SCRIPT_SECONDS
    _worker: _Worker | None = field(default=None, init=False)
    _count: int = field(default=0, init=False)

    @property
    def is_running(self) -> bool:
        """Whether there is a process, with variables of earlier scripts."""
        return self._worker is not None

    @property
    def is_confined(self) -> bool:
        """Whether the kernel also shuts the process out of the file system (Landlock)."""
        return self._worker is not None and self._worker.is_confined

    async def run(self, name: str, code: str, functions: Functions, pause: Pause | None = None) -> ScriptRun:
        """Run a script to its end, its time-out or its process's end; lines that begin with `# %%` part it into cells.

        While the run is paused no cell begins and the script's time stands still; what it computes goes on.
        Raises MachineFault when no process can be started, and what `functions.call` raises but for ActionFailed; then,
        and when it is cancelled, the process is ended.
        """
        pause = pause or Pause()
        started = pause.time()
        outcome = ScriptRun()
        try:
            for piece in _pieces(code):
                await pause.wait()
                left = self.script_seconds - (pause.time() - started)
                await self._run_piece(name, piece, functions, min(left, self.cell_seconds), outcome, pause)
                if outcome.error is not None or outcome.lost:
                    break
        except BaseException:
            await self.close()
            raise
        outcome.duration = pause.time() - started
        return outcome

    async def close(self) -> None:
        """End the process, whatever it is doing."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await _end(worker)

    async def _run_piece(
        self, name: str, piece: _Piece, functions: Functions, seconds: float, outcome: ScriptRun, pause: Pause
    ) -> None:
        worker = self._worker = self._worker or await self._start()
        self._count += 1
        names = {function: list(parameters) for function, parameters in functions.names.items()}
        worker.wire.begin()
        try:
            async with pause.timeout(max(0.0, seconds)):
                await worker.wire.run(
                    cell=self._count, name=name, code=piece.code, lines_before=piece.lines_before, functions=names
                )
                finished = await _attend(worker.wire, self._count, functions, outcome)
        except TimeoutError:
            outcome.lost = f"it was not done within {max(0.0, round(seconds, 1)):g} s"
            await self.close()
        except Gone as gone:
            self._worker = None
            outcome.lost = await _explain(worker, gone.reason)
        else:
            outcome.value, outcome.error = _cut(finished.value), _cut(finished.error)

    async def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        try:
            running = await self.starter.start(theirs)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        try:
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_LINE)
        except BaseException:
            running.kill()
            ours.close()
            await running.wait()
            raise
        worker = _Worker(running, Wire(reader, writer), is_confined=False)
        try:
            async with asyncio.timeout(START_SECONDS):
                first = await worker.wire.hear()
        except (TimeoutError, Gone) as error:
            await _end(worker)
            raise MachineFault("The program for scripts did not start.") from error
        except BaseException:
            await _end(worker)
            raise
        if not isinstance(first, Ready):
            await _end(worker)
            reason = first.reason if isinstance(first, NotLocked) else "it is not what it should be"
            raise MachineFault(f"The program for scripts cannot be locked up here ({reason}).")
        worker.is_confined = first.is_confined
        return worker


async def _attend(wire: Wire, number: int, functions: Functions, outcome: ScriptRun) -> Finished:
    """Do what a piece asks for until it has ended; calls of one script are done one after the other where they must."""
    calls: set[asyncio.Task[None]] = set()
    room = asyncio.Semaphore(_AT_ONCE)
    printed, left = [outcome.printed], MOST_KEPT - len(outcome.printed)
    try:
        while True:
            said = await _hear(wire, calls)
            if isinstance(said, Printed):
                printed += [said.text[:left]] if left > 0 else []
                left -= len(said.text)
            elif isinstance(said, Call):
                if len(calls) >= _MOST_WAITING:
                    raise Gone("it asked for too much at once")
                calls.add(asyncio.create_task(_do(wire, said, functions, room)))
            elif isinstance(said, Finished) and said.cell == number:
                return said
            elif not isinstance(said, Finished):
                raise Gone("it sent what is no message")
    finally:
        outcome.printed = "".join(printed)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


async def _hear(wire: Wire, calls: set[asyncio.Task[None]]) -> Any:
    """Return what is said next; what a call raised meanwhile, which ends the script, is raised."""
    hearing = asyncio.ensure_future(wire.hear())
    try:
        while not hearing.done():
            done, _ = await asyncio.wait({hearing, *calls}, return_when=asyncio.FIRST_COMPLETED)
            for call in calls & done:
                calls.remove(call)
                call.result()
        return hearing.result()
    finally:
        hearing.cancel()


async def _do(wire: Wire, call: Call, functions: Functions, room: asyncio.Semaphore) -> None:
    try:
        async with room:
            value = await functions.call(call.name, call.read())
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Gone("it sent what is no message") from error
    except ActionFailed as error:
        await wire.refuse(call.call, error.message)
    else:
        await wire.answer(call.call, value)


async def _end(worker: _Worker) -> None:
    """Kill the process and wait until it is gone, which takes a moment: also when cancelled, so that none is left."""
    worker.running.kill()
    worker.wire.close()
    ending = asyncio.ensure_future(worker.running.wait())
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await asyncio.wait({ending}, timeout=END_SECONDS)
        raise


async def _explain(worker: _Worker, reason: str) -> str:
    """Return how a process that let go of its line ended."""
    if reason:
        await _end(worker)
        return f"{reason} and was ended"
    worker.wire.close()
    try:
        async with asyncio.timeout(2.0):
            code = await worker.running.wait()
    except TimeoutError:
        await _end(worker)
        return "it closed its line to the server and was ended"
    return f"its process ended with {f'signal {-code}' if code < 0 else f'code {code}'}"


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:MOST_KEPT]


def _pieces(code: str) -> list[_Piece]:
    marks = [match.start() for match in _MARKER.finditer(code)]
    edges = [0, *marks, len(code)]
    parts = [(code[start:end], code.count("\n", 0, start)) for start, end in pairwise(edges)]
    return [_Piece(text, before) for text, before in parts if text.strip()] or [_Piece(code, 0)]
