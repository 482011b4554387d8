"""Starts the program: takes the channel over, loads what scripts need most, locks itself up, and then listens."""

import asyncio
import contextlib
import os
import socket
import sys
from typing import NoReturn

from appliance.workspaces.sandbox_program.cells import Cells, Printed
from appliance.workspaces.sandbox_program.channel import Channel
from appliance.workspaces.sandbox_program.lock import lock_up

_LIBRARIES = ("/usr/lib", "/lib", "/lib64", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")


class _Loop(asyncio.SelectorEventLoop):
    """A loop that threads wake by plain writing and reading: sending and receiving are refused in here."""

    _csock: socket.socket | None
    _ssock: socket.socket

    def _write_to_self(self) -> None:
        if self._csock is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._csock.fileno(), b"\0")

    def _read_from_self(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._ssock.fileno(), 4096)


def main() -> None:
    """Run until the server lets go of the channel; the user to become is the last argument."""
    uid = int(sys.argv[-1])
    channel_end = os.dup(0)
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.chdir("/")
    loop = _Loop()
    asyncio.set_event_loop(loop)
    channel = Channel(channel_end, loop)
    sys.stdout = sys.stderr = printed = Printed(channel)
    machine = os.uname().machine
    leave = os._exit

    def leave_with_last_words(status: int) -> NoReturn:
        printed.flush()
        leave(status)

    os._exit = leave_with_last_words
    library = os.path.dirname(os.__file__)  # noqa: PTH120  (pathlib is not loaded for one path)
    _keep_reachable(library)
    try:
        is_confined = lock_up(uid, (library, *_LIBRARIES), machine)
    except OSError as error:
        channel.send(kind="refused", reason=str(error))
        return
    channel.send(kind="ready", uid=os.getuid(), is_confined=is_confined)
    loop.run_until_complete(_serve(channel, printed))


async def _serve(channel: Channel, printed: Printed) -> None:
    cells = Cells(channel, printed)
    while True:
        await cells.run(await channel.next_cell())


def _keep_reachable(library: str) -> None:
    """Let modules be loaded from the library later on, also where the way through its parents is closed to others."""
    way = library
    at: str = library
    while at != "/":
        at = os.path.dirname(at)  # noqa: PTH120
        if not os.stat(at).st_mode & 0o001:  # noqa: PTH116
            way = f"/proc/self/fd/{os.open(library, os.O_PATH | os.O_DIRECTORY)}"
    sys.path[:] = [path.replace(library, way) for path in sys.path if path.startswith(library)]
    sys.path_importer_cache.clear()
    for module in list(sys.modules.values()):
        if hasattr(module, "__path__"):
            module.__path__ = [path.replace(library, way) for path in module.__path__]
