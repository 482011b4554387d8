"""How the process of a sandbox comes into being: by this server when it is root, else by the keeper that is."""

import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path
from typing import Protocol

from appliance.errors import MachineFault
from appliance.workspaces.sandbox_program import BOOT
from appliance.workspaces.sandbox_program.users import free_user, take_user

ROOT = Path(__file__).parents[2]
"""The folder that holds the package."""
KEEPER = "PILOTHOUSE_SANDBOX_KEEPER"
"""The variable with the path of the keeper's socket."""


class Running(Protocol):
    """A process that was started."""

    def kill(self) -> None:
        """End it at once; of no effect when it has ended."""
        ...

    async def wait(self) -> int:
        """Return its exit code once it has ended, negative for a signal."""
        ...


class Starter(Protocol):
    """A way to start processes."""

    async def start(self, channel: socket.socket) -> Running:
        """Start one that has the channel for its standard input; raises MachineFault."""
        ...


def find_starter() -> Starter | str:
    """Return how processes can be started here, or a sentence on why they cannot."""
    if sys.platform != "linux":
        return "Scripts are run on Linux only."
    if os.geteuid() == 0:
        return Direct()
    if keeper := os.environ.get(KEEPER, ""):
        if os.access(keeper, os.W_OK):
            return Keeper(Path(keeper))
        return "No keeper runs, as the container was started as an ordinary user: start it as compose.yaml does."
    return "The server runs as an ordinary user and cannot start programs as another: start it as root or in the image."


class Direct:
    """Starts processes itself, as root; they lock themselves up before they hear of a script."""

    async def start(self, channel: socket.socket) -> Running:
        """Start one; raises MachineFault."""
        try:
            uid = take_user()
        except LookupError as error:
            raise MachineFault("Too many scripts run at once; wait until one has ended.") from error
        command = (sys.executable, "-I", "-S", "-c", BOOT, str(ROOT), str(uid))
        nothing = asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=channel.fileno(),
                stdout=nothing,
                stderr=nothing,
                env={},
                cwd="/",
                start_new_session=True,
            )
        except BaseException as error:
            free_user(uid)
            if not isinstance(error, OSError):
                raise
            raise MachineFault(f"The program for scripts could not be started ({error.strerror}).") from error
        return _Child(process, uid)


class _Child:
    def __init__(self, process: asyncio.subprocess.Process, uid: int) -> None:
        self._process = process
        self._ended = asyncio.create_task(process.wait())
        # Also where nobody is left to wait for the end.
        self._ended.add_done_callback(lambda _: free_user(uid))

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)


class Keeper:
    """Has processes started by the keeper, a small program that stayed root when the server did not."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def start(self, channel: socket.socket) -> Running:
        """Start one; raises MachineFault."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.settimeout(5)
            await asyncio.to_thread(line.connect, str(self._path))
            socket.send_fds(line, [b"start\n"], [channel.fileno()])
            line.setblocking(False)
            reader, writer = await asyncio.open_unix_connection(sock=line)
        except OSError as error:
            line.close()
            raise MachineFault(f"The keeper of the sandbox does not answer ({error.strerror or error}).") from error
        return _Kept(reader, writer)


class _Kept:
    """The keeper ends the process when this line is closed, and writes its exit code when it has ended."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def kill(self) -> None:
        if self._writer.can_write_eof() and not self._writer.is_closing():
            self._writer.write_eof()

    async def wait(self) -> int:
        try:
            said = await self._reader.read(100)
        except OSError:
            said = b""
        self._writer.close()
        try:
            return int(said)
        except ValueError:
            return -9
