"""Ports for programs that must be told theirs beforehand, each given to one test process only."""

import fcntl
import itertools
import os
import socket
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FIRST = 10_000
BLOCK = 100
BLOCKS = 220
"""All blocks end below the range that outgoing connections take their ports from."""


def find_free_ports(count: int = 1) -> int:
    """Return the first of `count` ports in a row, at most 50, that are free and were not given lately."""
    row: list[int] = []
    for port in itertools.islice(_block(), 2 * BLOCK):
        row = [*row, port] if row and port == row[-1] + 1 else [port]
        if not _is_free(port):
            row = []
        elif len(row) == count:
            return row[0]
    raise RuntimeError(f"There are no {count} free ports in a row.")


@cache
def _block() -> Iterator[int]:
    """Take a block for as long as this process lives, which a locked file tells all others; yield its ports forever."""
    folder = Path(tempfile.gettempdir()) / f"pilothouse-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for number in range(BLOCKS):
        lock = os.open(folder / str(number), os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        first = FIRST + number * BLOCK
        return itertools.cycle(range(first, first + BLOCK))
    raise RuntimeError("All ports for tests are taken.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
