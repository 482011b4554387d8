"""Asks supervisord to start, stop and look at programs: XML-RPC over its unix socket, without blocking the loop."""

import asyncio
import xmlrpc.client
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, cast
from xml.parsers.expat import ExpatError

from appliance.errors import MachineFault

_LOOK_AGAIN = 0.02


class ProcessState(StrEnum):
    """State of a program; RUNNING only means that it was forked."""

    STOPPED = "STOPPED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    BACKOFF = "BACKOFF"
    STOPPING = "STOPPING"
    EXITED = "EXITED"
    FATAL = "FATAL"
    UNKNOWN = "UNKNOWN"

    @property
    def is_alive(self) -> bool:
        """Whether there is a process, or will be one in a moment."""
        return self in (ProcessState.STARTING, ProcessState.RUNNING)


class Fault(IntEnum):
    """Supervisord's own numbers for what it refuses."""

    OTHER = 0
    SHUTTING_DOWN = 6
    NO_SUCH_PROGRAM = 10
    NO_FILE = 20
    NOT_EXECUTABLE = 21
    FAILED = 30
    DIED_AT_START = 40
    SPAWN_FAILED = 50
    ALREADY_STARTED = 60
    NOT_RUNNING = 70


class SupervisorFault(MachineFault):
    """Supervisord answered that it cannot do what it was asked; `fault` says why."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.fault = fault


class SupervisorUnreachable(MachineFault):
    """Nobody answers on supervisord's socket."""


@dataclass(frozen=True)
class ProcessInfo:
    """What supervisord knows of one program; `pid` is 0 when there is no process."""

    name: str
    state: ProcessState
    pid: int
    exit_status: int


class Supervisor:
    """Client of one supervisord. Every call raises SupervisorUnreachable or SupervisorFault when it cannot be done."""

    def __init__(self, socket_path: Path, timeout: float = 10.0) -> None:
        self.socket_path = socket_path
        self._timeout = timeout

    async def start(self, name: str) -> None:
        """Start the program `name` (group:process) unless it runs already; returns when it was forked.

        One that ended at once is not told apart from one that ends a moment later: look at its state.
        """
        try:
            await self._call("supervisor.startProcess", name, True)
        except SupervisorFault as error:
            if error.fault not in (Fault.ALREADY_STARTED, Fault.DIED_AT_START, Fault.SPAWN_FAILED):
                raise

    async def stop(self, name: str) -> None:
        """Stop the program `name` if it runs; returns when its process has ended.

        A supervisord that is shutting down stops it anyway, in its own order: then this returns at once.
        """
        try:
            await self._call("supervisor.stopProcess", name, True)
        except SupervisorFault as error:
            if error.fault is Fault.SHUTTING_DOWN:
                return
            if error.fault is not Fault.NOT_RUNNING:
                raise
            await self._wait_while_stopping(name)

    async def find(self, name: str) -> ProcessInfo:
        """Return the state of the program `name`."""
        return _info(await self._call("supervisor.getProcessInfo", name))

    async def list(self) -> tuple[ProcessInfo, ...]:
        """Return the state of every program."""
        answer = cast("list[dict[str, Any]]", await self._call("supervisor.getAllProcessInfo"))
        return tuple(_info(entry) for entry in answer)

    async def _wait_while_stopping(self, name: str) -> None:
        """Wait for a stop that somebody else asked for: supervisord can neither repeat it nor start meanwhile."""
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    if (await self.find(name)).state is not ProcessState.STOPPING:
                        return
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError as error:
            raise SupervisorUnreachable(f"supervisord does not come to an end with stopping {name}.") from error

    async def _call(self, method: str, *arguments: Any) -> Any:
        body = xmlrpc.client.dumps(arguments, method).encode()
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._exchange(body)
        except TimeoutError as error:
            raise SupervisorUnreachable(
                f"supervisord did not answer {method} within {self._timeout:.0f} s; restart the server."
            ) from error
        except OSError as error:
            raise SupervisorUnreachable(
                f"supervisord does not answer on {self.socket_path} ({error.strerror or error}); "
                "start the server with `pilothouse supervise`."
            ) from error
        return _read_answer(answer, method, arguments)

    async def _exchange(self, body: bytes) -> bytes:
        """Send one HTTP/1.0 request and return the body of the answer; the server closes after it."""
        reader, writer = await asyncio.open_unix_connection(str(self.socket_path))
        try:
            head = f"POST /RPC2 HTTP/1.0\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            return (await reader.read()).partition(b"\r\n\r\n")[2]
        finally:
            writer.close()


def _read_answer(answer: bytes, method: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return xmlrpc.client.loads(answer)[0][0]
    except xmlrpc.client.Fault as error:
        subject = f"{method.partition('.')[2]}({', '.join(str(item) for item in arguments if item is not True)})"
        raise SupervisorFault(
            f"supervisord refused {subject}: {error.faultString}.", _find_fault(error.faultCode)
        ) from error
    except (ExpatError, xmlrpc.client.ResponseError) as error:
        raise SupervisorUnreachable(
            f"supervisord broke off while it answered {method}; is it shutting down?"
        ) from error


def _find_fault(code: int) -> Fault:
    return Fault(code) if code in {fault.value for fault in Fault} else Fault.OTHER


def _info(entry: Any) -> ProcessInfo:
    return ProcessInfo(
        name=f"{entry['group']}:{entry['name']}",
        state=ProcessState(entry["statename"]),
        pid=int(entry["pid"]),
        exit_status=int(entry["exitstatus"]),
    )
