"""A real supervisord with the product's configuration, on displays, ports and folders of its own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import websockets

from appliance.displays.layout import OPS_DIR, PoolLayout
from appliance.displays.pool import SlotPool
from appliance.displays.slot import Slot
from appliance.displays.supervisor import Supervisor, SupervisorUnreachable
from tests.ports import find_free_ports

GRAB = """
import asyncio, sys
from appliance.displays.screen import grab
sys.stdout.buffer.write(asyncio.run(grab(int(sys.argv[1]))))
"""
LISTEN = "0A"
LOOPBACK = ("0100007F", "00000000000000000000000001000000")


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
        bridge_port_base=find_free_ports(2),
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
    # A signal that comes between a program's fork and its start is lost; it is killed after its 20 s then.
    process.communicate(timeout=60)


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


async def prepared(machine: Machine) -> Slot:
    slot = machine.pool.try_lease()
    assert slot is not None
    await machine.pool.prepare(slot)
    return slot


async def eventually(condition: Callable[[], Awaitable[bool]], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.02)


def connect_x(machine: Machine, slot: Slot, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Take a picture of the display in a process of its own, as the server does."""
    return subprocess.run(
        [sys.executable, "-c", GRAB, str(slot.display)],
        env=os.environ | machine.layout.environment() | environment,
        capture_output=True,
        check=False,
    )


async def read_frame(address: str) -> bytes:
    """Speak RFB far enough to get one whole raw update, and return its pixels."""
    async with websockets.connect(address, subprotocols=["binary"], max_size=None) as client:
        received = bytearray()

        async def take(count: int) -> bytes:
            while len(received) < count:
                received.extend(await asyncio.wait_for(client.recv(), 10))
            head = bytes(received[:count])
            del received[:count]
            return head

        assert (await take(12)).startswith(b"RFB 003.")
        await client.send(b"RFB 003.008\n")
        kinds = await take((await take(1))[0])
        assert 1 in kinds
        await client.send(b"\x01")
        assert await take(4) == bytes(4)
        await client.send(b"\x01")
        start = await take(24)
        await take(int.from_bytes(start[20:24], "big"))
        width, height = int.from_bytes(start[0:2], "big"), int.from_bytes(start[2:4], "big")
        assert (width, height) == (1920, 1080)
        await client.send(b"\x02\x00\x00\x01" + bytes(4))
        await client.send(b"\x03\x00" + bytes(4) + start[0:4])
        await take(2)
        rectangles = int.from_bytes(await take(2), "big")
        assert rectangles >= 1
        box = await take(12)
        return await take(int.from_bytes(box[4:6], "big") * int.from_bytes(box[6:8], "big") * 4)


def listeners(pids: set[int]) -> list[tuple[str, int]]:
    """Return address and port of every TCP socket on which one of the processes listens."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes.add(str(link.readlink()))
            except FileNotFoundError:
                continue
    rows = [row.split() for table in ("tcp", "tcp6") for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    found = [row[1].split(":") for row in rows if row[3] == LISTEN and f"socket:[{row[9]}]" in inodes]
    return [(address, int(port, 16)) for address, port in found]


def shared_memory_of(pid: int) -> int:
    rows = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return sum(1 for row in rows if row.split()[4] == str(pid))
