"""Looks whether a socket or port is really served, and by whom: supervisord only knows that a program was forked."""

import socket
import struct
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")


def find_listener(path: Path) -> int | None:
    """Return the process that listens on the unix socket at `path`, None when nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        try:
            client.connect(str(path))
        except OSError:
            return None
        raw = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return _CREDENTIALS.unpack(raw)[0]


def is_port_served(port: int) -> bool:
    """Whether somebody accepts connections on `port` of 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.settimeout(0.2)
        return client.connect_ex(("127.0.0.1", port)) == 0


def is_port_free(port: int) -> bool:
    """Whether a program of ours could listen on `port` of 127.0.0.1 now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("127.0.0.1", port))
            server.listen(1)
        except OSError:
            return False
        return True
