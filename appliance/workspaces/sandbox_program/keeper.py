"""Stays root where the server does not: starts the program for scripts as other users, and does nothing else.

Called with a socket's path, the name of the server's user and the server's command, which it runs and ends with. Who
connects to the socket as that user and hands over a channel gets a process on it; it is killed when the line is closed.
"""

import contextlib
import os
import pwd
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence

from appliance.workspaces.sandbox_program import BOOT
from appliance.workspaces.sandbox_program.users import free_user, take_user

MOST_PROCESSES = 64
HELLO_SECONDS = 3.0
"""How long a line may stay without saying what it wants."""
_room = threading.BoundedSemaphore(MOST_PROCESSES)


def main(arguments: Sequence[str]) -> None:
    """Run the server's command and keep for it; where this is not root, the command alone."""
    path, user, *command = arguments
    if os.geteuid() != 0:
        os.execvp(command[0], command)
    listener = listen(path)
    share_output()
    server: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _: object) -> None:
        if server is None:
            early.append(number)
        else:
            server.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    server = subprocess.Popen(command)
    for number in early:
        server.send_signal(number)
    threading.Thread(target=keep, args=(listener, pwd.getpwnam(user).pw_uid), daemon=True).start()
    code = server.wait()
    sys.exit(code if code >= 0 else 128 - code)


def share_output() -> None:
    """Let the server, another user, open this process's output anew by name, where it is a pipe or terminal."""
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(os.fstat(number).st_mode) or os.isatty(number):
                os.fchmod(number, 0o622)


def listen(path: str) -> socket.socket:
    """Return the socket at the path; the folder is made when missing. Everybody may connect, and is asked who it is."""
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o666)  # noqa: S103, PTH101
    listener.listen()
    return listener


def keep(listener: socket.socket, user: int) -> None:
    """Serve who connects as this user, until the socket is closed."""
    while True:
        try:
            line, _ = listener.accept()
        except OSError:
            return
        _, peer, _ = struct.unpack("iII", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if peer != user or not _room.acquire(blocking=False):
            line.close()
            continue
        threading.Thread(target=_serve, args=(line,), daemon=True).start()


def _serve(line: socket.socket) -> None:
    try:
        with line:
            uid = take_user()
            try:
                _run(line, uid)
            finally:
                free_user(uid)
    except (OSError, LookupError):
        return
    finally:
        _room.release()


def _run(line: socket.socket, uid: int) -> None:
    """Start the process, and say its exit code when it has ended."""
    line.settimeout(HELLO_SECONDS)
    _, channels, _, _ = socket.recv_fds(line, 16, 1)
    line.settimeout(None)
    if len(channels) != 1:
        return
    root = __file__.removesuffix("/appliance/workspaces/sandbox_program/keeper.py")
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", "-c", BOOT, root, str(uid)),
            stdin=channels[0],
            stdout=nothing,
            stderr=nothing,
            env={},
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(channels[0])
    threading.Thread(target=_kill_when_left, args=(line, process), daemon=True).start()
    code = process.wait()
    line.sendall(f"{code}\n".encode())
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def _kill_when_left(line: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):
        line.recv(1)
    process.kill()
