"""A whole appliance as people start it: `pilothouse supervise` on ports, displays and folders of its own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psutil

from tests.calm import CALM_MACHINE
from tests.ports import find_free_ports

ROOT = Path(__file__).resolve().parents[2]
PILOTHOUSE = Path(sys.prefix) / "bin" / "pilothouse"
API_KEY = "test-key-of-the-system-tests"
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "USER")


def eventually(look: Callable[[], Any], what: str, seconds: float = 20.0) -> Any:
    """Return the first true thing that `look` returns; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"Not within {seconds:g} s: {what}")


def name_of(process: psutil.Process) -> str:
    """Return the name of the process's program, nothing when it has ended meanwhile."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def free_displays(count: int) -> int:
    """Return the first of `count` display numbers that nobody uses."""
    first = 3_000 + (os.getpid() % 3_000) * 4
    while any(Path(f"/tmp/.X11-unix/X{first + n}").exists() for n in range(count)):
        first += 20_000
    return first


@dataclass
class Instance:
    """One appliance; use it as a context manager. `settings` are laid over the tests' own."""

    settings: dict[str, str] = field(default_factory=dict)
    slots: int = 1
    command: tuple[str, ...] = ("supervise",)

    def __post_init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ph-sys-"))
        self.port = find_free_ports(1 + 2 * self.slots)
        self.environment = {name: os.environ[name] for name in KEPT if name in os.environ} | {
            "DATA_DIR": str(self.folder / "data"),
            "RUN_DIR": str(self.folder / "run"),
            "PORT": str(self.port),
            "BRIDGE_PORT_BASE": str(self.port + 1),
            "CDP_PORT_BASE": str(self.port + 1 + self.slots),
            "DISPLAY_BASE": str(free_displays(self.slots)),
            "MAX_CONCURRENT_SESSIONS": str(self.slots),
            "API_KEY": API_KEY,
            "BROWSE_PRIVATE": "loopback",
            "PRESSURE_PATH": str(CALM_MACHINE),
            **self.settings,
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"X-Browser-Use-API-Key": API_KEY},
            timeout=30,
            trust_env=False,
        )

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v3"

    @property
    def displays(self) -> set[str]:
        base = int(self.environment["DISPLAY_BASE"])
        return {f":{base + number}" for number in range(self.slots)}

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            sys.stdout.write(self.log)
        try:
            self.stop()
            if kind is None:
                assert self.processes() == [], self.processes()
        finally:
            for process in self.processes():
                process.kill()
            self.http.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it and wait until it is ready."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [PILOTHOUSE, *self.command], env=self.environment, cwd=self.folder, stdout=log, stderr=log
            )
        eventually(self.is_ready, "the appliance is ready", 90)

    def stop(self) -> None:
        """Stop it as an operator does, and wait until it has ended."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(40)
            self.process = None

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the command line to its end."""
        return subprocess.run(
            [PILOTHOUSE, *arguments],
            env=self.environment | settings,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def is_ready(self) -> bool:
        assert self.process is None or self.process.poll() is None, self.log
        with suppress(httpx.HTTPError):
            return self.http.get("/readyz").status_code == 200
        return False

    def create(self, **body: Any) -> dict[str, Any]:
        answer = self.http.post("/v3/sessions", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def find(self, session: dict[str, Any]) -> dict[str, Any]:
        return self.http.get(f"/v3/sessions/{session['id']}").json()

    def messages(self, session: dict[str, Any]) -> list[dict[str, Any]]:
        return self.http.get(f"/v3/sessions/{session['id']}/messages", params={"limit": 100}).json()["messages"]

    def wait_for(self, session: dict[str, Any], *statuses: str, seconds: float = 30.0) -> dict[str, Any]:
        """Return the session once it has one of the states, by default any in which it is done."""
        wanted = statuses or ("idle", "stopped", "timed_out", "error")

        def look() -> dict[str, Any] | None:
            found = self.find(session)
            return found if found["status"] in wanted else None

        return eventually(look, f"the session is {' or '.join(wanted)}: {self.find(session)}", seconds)

    def processes(self) -> list[psutil.Process]:
        """Return every process of this instance, whoever its parent is now."""
        marks = {str(self.folder), *self.displays}
        found: list[psutil.Process] = []
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                environment = process.environ()
                own = environment.get("DATA_DIR") == self.environment["DATA_DIR"]
                own = own or environment.get("DISPLAY") in self.displays
                marked = any(mark in word for word in process.cmdline() for mark in marks)
                if (own or marked) and process.status() != psutil.STATUS_ZOMBIE and process.pid != os.getpid():
                    found.append(process)
        return found

    @property
    def server(self) -> psutil.Process:
        """The process that serves the pages and the API."""
        return next(process for process in self.processes() if process.cmdline()[-1:] == ["serve"])

    def find_process(self, name: str) -> psutil.Process:
        """Return the instance's process whose command line contains `name`; the oldest of several."""
        found = [process for process in self.processes() if any(name in word for word in process.cmdline())]
        assert found, f"no process {name} among {self.processes()}"
        return min(found, key=lambda process: process.pid)
