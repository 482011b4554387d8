"""Locks a process up for good: another user, no privileges, read-only files, no network, no processes, little memory.

Each lock holds by itself; only Landlock, which not every kernel has, may be missing. Raises OSError when one fails.
"""

import ctypes
import os
import resource
import signal
import stat
import struct
from collections.abc import Iterator

from appliance.workspaces.sandbox_program.syscalls import TABLES, Table

MEMORY = 512 * 1024 * 1024
"""Bytes of address space."""
MOST_THREADS = 24
MOST_FILES = 64

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVILEGES = 1, 4, 22, 38
_FILTER_MODE = 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _EACCES, _ENOTTY, _ENOSYS = 1, 13, 25, 38
_LOAD, _JUMP_EQUAL, _JUMP_ANY_BIT, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CLONE_THREAD = 0x10000
_HARMLESS_IOCTLS = (0x5401, 0x5421, 0x5450, 0x5451)
"""Asking for a terminal, non-blocking mode, and what is kept over exec."""
_HARMLESS_FCNTLS = (0, 1, 2, 3, 4, 1030)
"""Duplicates and flags of a descriptor: no locks of files, no signals to others, no watching of folders."""
_FIRST_FOREIGN = 0x40000000
"""From here on come the calls of a second way into the kernel of x86."""
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_ALL_OF_FIRST_LANDLOCK = (1 << 13) - 1
_MOST_MALLOC_ARENAS = -8

_library = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def lock_up(uid: int, readable: tuple[str, ...], machine: str) -> bool:
    """Lock this process up as user and group `uid`; returns whether the kernel also confines its files (Landlock).

    `readable` are the folders with programs and libraries that stay readable.
    """
    table = TABLES.get(machine)
    if table is None:
        raise OSError(f"processors of the kind {machine} are not known")
    parent = os.getppid()
    handles = list(_open_all(readable))
    with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123  (nothing more is loaded than must be)
        file.write("1000")
    _library.mallopt(_MOST_MALLOC_ARENAS, 1)
    os.nice(15)
    os.umask(0o077)
    _become(uid)
    _prctl(_SET_NO_NEW_PRIVILEGES, 1)
    _prctl(_SET_DUMPABLE, 0)
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        raise OSError("the server has gone")
    is_confined = _confine_files(table, handles)
    _limit()
    _filter_calls(table)
    return is_confined


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    try:
        os.setuid(0)
    except PermissionError:
        return
    raise OSError("the rights of root could not be given up")


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NOFILE, MOST_FILES),
        (resource.RLIMIT_NPROC, MOST_THREADS),
    ):
        resource.setrlimit(kind, (most, most))


def _prctl(option: int, value: int, more: int = 0) -> None:
    if _library.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(more), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _open_all(readable: tuple[str, ...]) -> Iterator[int]:
    """Yield a handle for each path that there is, while the way to it is still open."""
    for path in readable:
        try:
            yield os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue


def _confine_files(table: Table, handles: list[int]) -> bool:
    """Leave nothing of the file system but what the handles are of, to be read; False when the kernel lacks that."""
    create, add, restrict = table.landlock
    rights = ctypes.create_string_buffer(struct.pack("=Q", _ALL_OF_FIRST_LANDLOCK))
    rules = _library.syscall(create, rights, 8, 0)
    for handle in handles:
        allowed = _READ_FILE | (_READ_FOLDER if stat.S_ISDIR(os.fstat(handle).st_mode) else 0)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, handle))
        if rules >= 0 and _library.syscall(add, rules, 1, rule, 0):
            raise OSError("what is to stay readable could not be named")
        os.close(handle)
    if rules < 0:
        return False
    if _library.syscall(restrict, rules, 0):
        raise OSError("the file system could not be shut out")
    os.close(rules)
    return True


def _filter_calls(table: Table) -> None:
    code = b"".join(_instructions(table))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    _prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.addressof(program))


def _instructions(table: Table) -> Iterator[bytes]:
    """Yield the filter, eight bytes each: every rule falls through to the next when it is about another call."""
    yield from (_one(_LOAD, _ARCH), _one(_JUMP_EQUAL, table.arch, 1, 0), _one(_RETURN, _KILL))
    yield from (_one(_LOAD, _NUMBER), _one(_JUMP_AT_LEAST, _FIRST_FOREIGN, 0, 1), _refuse(_EPERM))
    for number in table.allowed:
        yield from (_one(_JUMP_EQUAL, number, 0, 1), _one(_RETURN, _ALLOW))
    for number in table.missing:
        yield from (_one(_JUMP_EQUAL, number, 0, 1), _refuse(_ENOSYS))
    for number, place in ((table.openat, 2), (table.open, 1)):
        if number is not None:
            rule = (_one(_JUMP_ANY_BIT, _WRITING, 0, 1), _refuse(_EACCES), _one(_RETURN, _ALLOW))
            yield from _about(number, place, rule)
    threads = (_one(_JUMP_ANY_BIT, _CLONE_THREAD, 0, 1), _one(_RETURN, _ALLOW), _refuse(_EPERM))
    yield from _about(table.clone, 0, threads)
    yield from _about(table.ioctl, 1, (*_allow_only(_HARMLESS_IOCTLS), _refuse(_ENOTTY)))
    yield from _about(table.fcntl, 1, (*_allow_only(_HARMLESS_FCNTLS), _refuse(_EPERM)))
    # Limits may be asked for, with no new ones given: both halves of that pointer are nothing.
    yield from _about(
        table.prlimit64,
        2,
        (
            _one(_JUMP_EQUAL, 0, 1, 0),
            _refuse(_EPERM),
            _one(_LOAD, _ARGUMENTS + 8 * 2 + 4),
            _one(_JUMP_EQUAL, 0, 1, 0),
            _refuse(_EPERM),
            _one(_RETURN, _ALLOW),
        ),
    )
    yield _refuse(_EPERM)


def _about(number: int, argument: int, rule: tuple[bytes, ...]) -> Iterator[bytes]:
    """Yield a rule on the lower half of an argument of one call; a rule always ends in an answer."""
    yield _one(_JUMP_EQUAL, number, 0, len(rule) + 1)
    yield _one(_LOAD, _ARGUMENTS + 8 * argument)
    yield from rule


def _allow_only(values: tuple[int, ...]) -> Iterator[bytes]:
    for value in values:
        yield from (_one(_JUMP_EQUAL, value, 0, 1), _one(_RETURN, _ALLOW))


def _refuse(number: int) -> bytes:
    return _one(_RETURN, _ERRNO | number)


def _one(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
