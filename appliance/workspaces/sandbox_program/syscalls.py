"""The system calls that a locked-up Python still needs, by processor; everything else is refused."""

from typing import NamedTuple

_EVERYWHERE = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "sched_yield": (24, 124),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup3": (292, 24),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getgroups": (115, 158),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "getdents64": (217, 61),
    "readlinkat": (267, 78),
    "statx": (332, 291),
    "getrandom": (318, 278),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "times": (100, 153),
    "getrusage": (98, 165),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "pipe2": (293, 59),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "membarrier": (324, 283),
    "sched_getaffinity": (204, 123),
    "getcwd": (79, 17),
    "getrlimit": (97, 163),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
}
_ONLY_X86 = {
    "stat": 4,
    "lstat": 6,
    "poll": 7,
    "access": 21,
    "pipe": 22,
    "select": 23,
    "dup2": 33,
    "readlink": 89,
    "getpgrp": 111,
    "arch_prctl": 158,
    "time": 201,
    "epoll_create": 213,
    "epoll_wait": 232,
}


class Table(NamedTuple):
    """The numbers of one processor: `arch` is its audit number; those named are let through under conditions."""

    arch: int
    allowed: tuple[int, ...]
    openat: int
    clone: int
    ioctl: int
    fcntl: int
    prlimit64: int
    missing: tuple[int, ...]
    """Calls that are answered as if the kernel did not have them, so that the C library takes an older way."""
    open: int | None = None
    landlock: tuple[int, int, int] = (444, 445, 446)
    """Numbers for creating a rule set, adding a rule, and restricting oneself; used before the filter stands."""


TABLES = {
    "x86_64": Table(
        arch=0xC000003E,
        allowed=tuple(pair[0] for pair in _EVERYWHERE.values()) + tuple(_ONLY_X86.values()),
        openat=257,
        clone=56,
        ioctl=16,
        fcntl=72,
        prlimit64=302,
        missing=(435, 436, 437),
        open=2,
    ),
    "aarch64": Table(
        arch=0xC00000B7,
        allowed=tuple(pair[1] for pair in _EVERYWHERE.values()),
        openat=56,
        clone=220,
        ioctl=29,
        fcntl=25,
        prlimit64=261,
        missing=(435, 436, 437),
    ),
}
