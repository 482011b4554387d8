"""A real supervisord with the product's configuration, on displays, ports and folders of its own."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from appliance.displays.layout import OPS_DIR, PoolLayout
from appliance.displays.pool import SlotPool
from appliance.displays.supervisor import Supervisor, SupervisorUnreachable


@dataclass
class Machine:
    """One running supervisord with its pool; `process` is supervisord itself."""

    layout: PoolLayout
    supervisor: Supervisor
    pool: SlotPool
    process: subprocess.Popen[bytes]

    async def pid(self, name: str) -> int:
        return (await self.supervisor.find(name)).pid

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


def find_free_base(count: int = 4) -> int:
    """Return the first of `count` display numbers of this test process which nobody uses."""
    first = 400 + (os.getpid() % 2000) * count
    while any(Path(f"/tmp/.X11-unix/X{first + n}").exists() for n in range(count)):
        first += 10_000
    return first


def find_free_ports(count: int = 2) -> int:
    """Return the first of `count` ports in a row that are free now."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        if all(_is_free(first + n) for n in range(count)):
            return first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture(scope="module")
def layout() -> Iterator[PoolLayout]:
    # pytest's own folders have paths too long for sockets.
    folder = Path(tempfile.mkdtemp(prefix="ph-"))
    yield make_layout(folder)
    free_shared_memory(folder / "run")
    shutil.rmtree(folder)


@pytest.fixture
def own_layout() -> Iterator[PoolLayout]:
    """The same for a test that ends its supervisord itself."""
    folder = Path(tempfile.mkdtemp(prefix="ph-"))
    yield make_layout(folder)
    free_shared_memory(folder / "run")
    shutil.rmtree(folder)


def make_layout(folder: Path, web: str = "exec sleep infinity") -> PoolLayout:
    """Return a layout in `folder` whose programs are the real ones, but the web server is the shell line `web`."""
    bin_dir = folder / "bin"
    bin_dir.mkdir()
    for name in ("supervisord", "python"):
        write_script(bin_dir / name, f'exec {Path(sys.prefix) / "bin" / name} "$@"')
    write_script(bin_dir / "pilothouse", web)
    return PoolLayout(
        slots=2,
        run_dir=folder / "run",
        log_dir=folder / "logs",
        display_base=find_free_base(),
        bridge_port_base=find_free_ports(),
        bin_dir=bin_dir,
    )


def free_shared_memory(run_dir: Path) -> None:
    """Give back what x11vnc left when a test killed it; otherwise its next start in the same run folder would."""
    pids = {path.read_text().strip() for path in run_dir.glob("vnc-*.pid")}
    rows = [row.split() for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    for shmid in (row[1] for row in rows if row[4] in pids and row[6] == "0"):
        subprocess.run(["ipcrm", "-m", shmid], check=True)


def write_script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def start_supervisord(layout: PoolLayout, path: str = os.environ["PATH"]) -> subprocess.Popen[bytes]:
    layout.make_folders()
    environment = os.environ | layout.environment() | {"PATH": path, "PYTHONPATH": str(OPS_DIR.parent)}
    return subprocess.Popen(layout.command(), env=environment, stderr=subprocess.PIPE)


def stop_supervisord(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.communicate(timeout=20)


@pytest.fixture(scope="module")
def supervisord(layout: PoolLayout) -> Iterator[subprocess.Popen[bytes]]:
    process = start_supervisord(layout)
    yield process
    stop_supervisord(process)


@pytest.fixture
async def machine(layout: PoolLayout, supervisord: subprocess.Popen[bytes]) -> AsyncIterator[Machine]:
    """A pool of two free slots on the module's supervisord."""
    machine = await connect(layout, supervisord)
    yield machine
    await machine.pool.close()
    await machine.pool.sweep()


@pytest.fixture
async def own_machine(own_layout: PoolLayout) -> AsyncIterator[Machine]:
    """The same with a supervisord of its own, which the test may end."""
    process = start_supervisord(own_layout)
    yield await connect(own_layout, process)
    stop_supervisord(process)


async def connect(layout: PoolLayout, process: subprocess.Popen[bytes]) -> Machine:
    supervisor = Supervisor(layout.supervisor_socket)
    async with asyncio.timeout(20):
        while True:
            try:
                await supervisor.list()
                break
            except SupervisorUnreachable:
                assert process.poll() is None, "supervisord did not start"
                await asyncio.sleep(0.02)
    return Machine(layout, supervisor, SlotPool(supervisor, layout, view_grace=0.2), process)
