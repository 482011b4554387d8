"""Looks into a server from outside: what it has open, its asyncio tasks, and what its sessions left in the machine.

The tasks are told by a few lines that Python loads before the server's own (`sitecustomize`): on a signal they write
the names of all tasks to a file. The product knows nothing of it.
"""

import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.system.instance import Instance, eventually, name_of

_POOLED = 6
"""Connections that the database keeps open once that many were needed at the same time."""

_TEACHING = """
import asyncio, os, signal

def tell(*_):
    # What is said: the coroutine of each task, since names are numbered.
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return
    path = os.environ["INSIGHT_FILE"]
    with open(path + ".new", "w") as file:
        file.writelines(getattr(task.get_coro(), "__qualname__", "?") + "\\n" for task in tasks if not task.done())
    os.replace(path + ".new", path)

signal.signal(signal.SIGUSR2, tell)
"""


@dataclass(frozen=True)
class Footprint:
    """What a server and its instance hold: asyncio tasks and open files by name, processes, displays, temp files."""

    tasks: Counter[str]
    files: Counter[str]
    processes: Counter[str]
    displays: frozenset[str]
    leftovers: frozenset[str]

    def beyond(self, other: "Footprint") -> dict[str, list[str]]:
        """Return what this one has and the other has not, by kind; kinds without a difference are left out."""
        found = {
            "tasks": sorted((self.tasks - other.tasks).elements()),
            "files": sorted((self.files - other.files).elements()),
            "processes": sorted((self.processes - other.processes).elements()),
            "displays": sorted(self.displays - other.displays),
            "temp files": sorted(self.leftovers - other.leftovers),
        }
        return {kind: names for kind, names in found.items() if names}


class Insight:
    """Looks into one instance; made before it is started."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._file = instance.folder / "tasks"
        self._temp = instance.folder / "tmp"
        lessons = instance.folder / "lessons"
        for folder in (self._temp, lessons):
            folder.mkdir()
        (lessons / "sitecustomize.py").write_text(_TEACHING)
        instance.environment |= {
            "TMPDIR": str(self._temp),
            "PYTHONPATH": str(lessons),
            "INSIGHT_FILE": str(self._file),
        }

    def look(self) -> Footprint:
        """Return what is held now."""
        server = self._instance.server
        return Footprint(
            tasks=self._tasks(server),
            files=_files(server),
            processes=Counter(map(name_of, self._instance.processes())),
            displays=frozenset(self._displays()),
            leftovers=frozenset(str(path.relative_to(self._temp)) for path in self._temp.iterdir()),
        )

    def settle(self, wanted: Callable[[Footprint], bool], seconds: float) -> Footprint:
        """Look until what is held is as wanted; returns the last look, wanted or not."""
        last: list[Footprint] = []

        def is_settled() -> bool:
            last.append(self.look())
            return wanted(last[-1])

        with suppress(AssertionError):
            eventually(is_settled, "everything is let go", seconds)
        return last[-1]

    def _tasks(self, server: psutil.Process) -> Counter[str]:
        self._file.unlink(missing_ok=True)
        server.send_signal(signal.SIGUSR2)
        eventually(self._file.exists, "the server tells its tasks", 30)
        return Counter(self._file.read_text().split())

    def _displays(self) -> list[str]:
        numbers = [display.removeprefix(":") for display in self._instance.displays]
        places = [Path(f"/tmp/.X11-unix/X{number}") for number in numbers]
        places += [Path(f"/tmp/.X{number}-lock") for number in numbers]
        return [str(place) for place in places if place.exists()]


def _files(server: psutil.Process) -> Counter[str]:
    """Return what the server has open, pipes and sockets by their kind, the database only beyond its pool."""
    found: Counter[str] = Counter()
    for link in Path(f"/proc/{server.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found[str(link.readlink()).partition(":[")[0]] += 1
    for name in found:
        if "pilothouse.db" in name:
            found[name] = max(0, found[name] - _POOLED)
    return found


def find_money_faults(database: Path) -> list[str]:
    """Return each session whose total is not the sum of its ledger rows, or of its runs, to the micro-dollar."""
    question = """
        SELECT hex(id), cost_usd,
            (SELECT coalesce(sum(cost_usd), 0) FROM ledger WHERE session_id = sessions.id),
            (SELECT coalesce(sum(cost_usd), 0) FROM runs WHERE session_id = sessions.id)
        FROM sessions
    """
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute(question).fetchall()
    return [
        f"{name}: session {total}, ledger {of_ledger}, runs {of_runs}"
        for name, total, of_ledger, of_runs in rows
        if not total == of_ledger == of_runs
    ]


def sum_ledger(database: Path) -> int:
    """Return what was spent in micro-dollars."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT coalesce(sum(cost_usd), 0) FROM ledger").fetchone()[0]
