"""Looks at processes of this machine through /proc and ends groups that are certainly ours."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_START_TIME_FIELD = 19
_GROUP_FIELD = 2


def read_start_ticks(pid: int) -> int | None:
    """Return when the process began, in clock ticks since the boot; None when there is no such process."""
    fields = _read_stat(pid)
    return int(fields[_START_TIME_FIELD]) if fields else None


def kill_group(pgid: int) -> bool:
    """Kill every process of the group; returns whether there was one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)
        return True
    return False


def group_exists(pgid: int) -> bool:
    """Whether a process of the group is left, be it a dead one that nobody has taken note of."""
    try:
        os.killpg(pgid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def find_groups_with(text: str) -> set[int]:
    """Return the process groups in which a process of this user has `text` in its command line, our own left out."""
    own = os.getpgrp()
    return {group for pid, group in _list_own_processes() if group != own and text in _read_command_line(pid)}


def _list_own_processes() -> Iterator[tuple[int, int]]:
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            fields = _read_stat(int(entry.name))
            if fields and entry.stat().st_uid == os.getuid():
                yield int(entry.name), int(fields[_GROUP_FIELD])


def _read_stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat that follow the name, which may itself contain blanks and brackets."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def _read_command_line(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
