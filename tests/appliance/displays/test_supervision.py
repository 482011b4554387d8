import os
import signal
import subprocess
import tempfile
from pathlib import Path

import psutil
import websockets

from appliance.displays.layout import OPS_DIR, PoolLayout
from appliance.displays.pool import SlotPool
from tests.appliance.displays.machine import (
    LOOPBACK,
    Machine,
    eventually,
    listeners,
    make_layout,
    prepared,
    start_supervisord,
    stop_supervisord,
)


async def test_nothing_listens_beyond_loopback(machine: Machine) -> None:
    slot = await prepared(machine)
    async with machine.pool.watching(slot):
        listening = listeners({child.pid for child in machine.children()} | {machine.process.pid})

    assert (LOOPBACK[0], slot.bridge_port) in listening
    assert [entry for entry in listening if entry[0] not in LOOPBACK] == []


async def test_a_sweep_ends_what_a_killed_web_server_left(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    successor = SlotPool(machine.supervisor, machine.layout)

    await successor.sweep()

    assert [child.name() for child in machine.children()] == ["sleep"]


async def test_nothing_is_left_after_a_stop(own_machine: Machine) -> None:
    slot = await prepared(own_machine)
    await own_machine.pool.show(slot)
    async with websockets.connect(slot.bridge_url, subprotocols=["binary"]) as viewer:
        await viewer.recv()
        children = own_machine.children()
        stop_supervisord(own_machine.process)

    assert len(children) >= 4
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert not own_machine.layout.display_socket(0).exists()


async def test_nothing_outlives_a_killed_supervisor(own_machine: Machine) -> None:
    slot = await prepared(own_machine)
    await own_machine.pool.show(slot)
    children = own_machine.children()
    own_machine.process.kill()
    own_machine.process.wait()

    _, alive = psutil.wait_procs(children, timeout=5)

    assert alive == []


async def test_a_killed_web_server_is_started_again(machine: Machine) -> None:
    first = await machine.pid("web:web")
    os.kill(first, signal.SIGKILL)

    async def back() -> bool:
        return await machine.pid("web:web") not in (0, first)

    await eventually(back)


def test_a_web_server_that_cannot_start_ends_everything_with_an_error(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="ph-") as folder:
        process = start_supervisord(make_layout(Path(folder), web="exit 1"))
        _, said = process.communicate(timeout=20)

    assert process.returncode == 1
    assert b"does not stay up" in said


def test_a_second_instance_in_the_same_run_folder_is_refused(layout: PoolLayout, machine: Machine) -> None:
    second = subprocess.run(
        layout.command(),
        env=os.environ | layout.environment() | {"PYTHONPATH": str(OPS_DIR.parent)},
        capture_output=True,
        check=False,
    )

    assert second.returncode != 0
    assert b"already listening" in second.stderr
