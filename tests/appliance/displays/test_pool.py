import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import psutil
import pytest
import websockets
from PIL import Image

from appliance.displays.layout import OPS_DIR, PoolLayout
from appliance.displays.pool import SlotPool
from appliance.displays.probe import find_listener
from appliance.displays.slot import Slot
from appliance.displays.supervisor import Supervisor
from appliance.errors import DisplayUnavailable
from tests.appliance.displays.conftest import Machine, connect, make_layout, start_supervisord, stop_supervisord

GRAB = """
import asyncio, sys
from appliance.displays.screen import grab
sys.stdout.buffer.write(asyncio.run(grab(int(sys.argv[1]))))
"""
LISTEN = "0A"
LOOPBACK = ("0100007F", "00000000000000000000000001000000")


async def prepared(machine: Machine) -> Slot:
    slot = machine.pool.try_lease()
    assert slot is not None
    await machine.pool.prepare(slot)
    return slot


async def eventually(condition, seconds: float = 5.0) -> None:
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


async def test_a_leased_slot_gets_a_display_and_is_leased_once(machine: Machine) -> None:
    pool = machine.pool
    first = await prepared(machine)
    second = pool.try_lease()

    assert await pool.is_display_up(first)
    assert second is not None
    assert (second.number, second.display) == (1, first.display + 1)
    assert second.bridge_token != first.bridge_token
    assert pool.try_lease() is None
    assert (pool.free, pool.leased) == (0, (first, second))


async def test_a_released_slot_is_free_again_with_nothing_running(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    machine.pool.changed.clear()

    await machine.pool.release(slot)
    await machine.pool.release(slot)

    assert machine.pool.changed.is_set()
    assert machine.pool.free == 2
    assert [child.name() for child in machine.children()] == ["sleep"]
    again = machine.pool.try_lease()
    assert again is not None
    assert again != slot


async def test_releasing_an_old_lease_does_not_touch_the_next_one(machine: Machine) -> None:
    old = await prepared(machine)
    await machine.pool.release(old)
    new = await prepared(machine)

    await machine.pool.release(old)

    assert machine.pool.leased == (new,)
    assert await machine.pool.is_display_up(new)


async def test_a_killed_display_is_noticed_and_comes_back_at_the_next_lease(machine: Machine) -> None:
    slot = await prepared(machine)
    os.kill(await machine.pid("display:display-00"), signal.SIGKILL)

    async def down() -> bool:
        return not await machine.pool.is_display_up(slot)

    await eventually(down)
    await machine.pool.release(slot)
    again = await prepared(machine)

    assert again.display == slot.display
    assert await machine.pool.is_display_up(again)


async def test_the_display_has_the_size_that_was_asked_for(machine: Machine) -> None:
    slot = machine.pool.try_lease()
    assert slot is not None
    await machine.pool.prepare(slot, width=1024, height=640)

    picture = connect_x(machine, slot)

    assert picture.returncode == 0, picture.stderr
    with Image.open(BytesIO(picture.stdout)) as image:
        assert (image.format, image.size) == ("JPEG", (1024, 640))


async def test_a_process_without_the_secret_cannot_use_the_display(machine: Machine) -> None:
    slot = await prepared(machine)

    refused = connect_x(machine, slot, XAUTHORITY="/dev/null")

    assert refused.returncode != 0
    assert b"DisplayUnavailable" in refused.stderr
    assert machine.layout.xauthority.stat().st_mode & 0o777 == 0o600
    assert machine.layout.run_dir.stat().st_mode & 0o777 == 0o700


async def test_frames_arrive_through_the_bridge_with_the_token(machine: Machine) -> None:
    slot = await prepared(machine)

    async with machine.pool.watching(slot):
        pixels = await read_frame(slot.bridge_url)

    assert len(pixels) >= 1920 * 4


@pytest.mark.parametrize("query", ["", "?token=", "?token=x", "?token=%2e%2e"])
async def test_the_bridge_refuses_whoever_lacks_the_token(machine: Machine, query: str) -> None:
    slot = await prepared(machine)

    async with machine.pool.watching(slot):
        with pytest.raises((websockets.InvalidStatus, websockets.ConnectionClosed, websockets.InvalidMessage)):
            await read_frame(f"ws://127.0.0.1:{slot.bridge_port}/{query}")


async def test_the_token_of_an_earlier_lease_opens_nothing(machine: Machine) -> None:
    old = await prepared(machine)
    await machine.pool.show(old)
    await machine.pool.release(old)
    new = await prepared(machine)

    async with machine.pool.watching(new):
        with pytest.raises((websockets.InvalidStatus, websockets.ConnectionClosed, websockets.InvalidMessage)):
            await read_frame(old.bridge_url)


async def test_no_token_is_written_to_a_log(machine: Machine) -> None:
    slot = await prepared(machine)
    async with machine.pool.watching(slot):
        await read_frame(slot.bridge_url)

    logs = list(machine.layout.log_dir.iterdir())

    assert logs
    assert not [path for path in logs if slot.bridge_token in path.read_text()]
    assert slot.bridge_token not in repr(slot)


async def test_nothing_listens_beyond_loopback(machine: Machine) -> None:
    slot = await prepared(machine)
    async with machine.pool.watching(slot):
        listening = listeners({child.pid for child in machine.children()} | {machine.process.pid})

    assert (LOOPBACK[0], slot.bridge_port) in listening
    assert [entry for entry in listening if entry[0] not in LOOPBACK] == []


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


async def test_the_view_stops_when_nobody_looks_and_comes_back_at_the_next_look(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    await machine.pool.show(slot)
    machine.pool.hide(slot)
    assert await machine.pid("vnc:vnc-00")
    machine.pool.hide(slot)

    async def gone() -> bool:
        return not await machine.pid("vnc:vnc-00") and not await machine.pid("bridge:bridge-00")

    await eventually(gone)
    assert await machine.pool.is_display_up(slot)
    async with machine.pool.watching(slot):
        assert await read_frame(slot.bridge_url)


async def test_a_killed_vnc_server_is_back_at_the_next_look(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    os.kill(await machine.pid("vnc:vnc-00"), signal.SIGKILL)

    async def dead() -> bool:
        return not await machine.pid("vnc:vnc-00")

    await eventually(dead)
    await machine.pool.show(slot)

    assert await read_frame(slot.bridge_url)


async def test_a_killed_vnc_server_leaves_no_shared_memory_once_the_next_has_started(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    killed = await machine.pid("vnc:vnc-00")
    assert shared_memory_of(killed) > 0
    os.kill(killed, signal.SIGKILL)

    async def dead() -> bool:
        return not await machine.pid("vnc:vnc-00")

    await eventually(dead)
    await machine.pool.show(slot)

    assert shared_memory_of(killed) == 0


async def test_a_stopped_vnc_server_leaves_no_shared_memory(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    stopped = await machine.pid("vnc:vnc-00")

    await machine.pool.release(slot)

    assert shared_memory_of(stopped) == 0


def shared_memory_of(pid: int) -> int:
    rows = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return sum(1 for row in rows if row.split()[4] == str(pid))


async def test_a_view_cannot_be_had_after_the_release(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.release(slot)

    with pytest.raises(DisplayUnavailable, match="closed"):
        await machine.pool.show(slot)


async def test_a_missing_x_server_is_one_clear_sentence_and_the_slot_comes_back(own_layout: PoolLayout) -> None:
    tools = own_layout.run_dir.parent / "tools"
    tools.mkdir()
    for name in ("sh", "env", "cat", "tr", "rm", "setpriv", "sleep"):
        (tools / name).symlink_to(Path("/usr/bin") / name)
    process = start_supervisord(own_layout, path=str(tools))
    try:
        pool = (await connect(own_layout, process)).pool
        slot = pool.try_lease()
        assert slot is not None
        with pytest.raises(DisplayUnavailable) as failure:
            await pool.prepare(slot)
        await pool.release(slot)
    finally:
        stop_supervisord(process)

    log = own_layout.log_dir / "display-00.log"
    assert failure.value.message == (
        f"The display of slot 0 did not start: Xvfb is not installed (Debian package xvfb); see {log}."
    )
    assert pool.free == 2


async def test_a_display_of_somebody_else_is_not_taken_for_ours(machine: Machine) -> None:
    slot = machine.pool.try_lease()
    assert slot is not None
    stranger = await asyncio.create_subprocess_exec("Xvfb", f":{slot.display}", stderr=subprocess.DEVNULL)
    try:

        async def served() -> bool:
            return find_listener(machine.layout.display_socket(0)) == stranger.pid

        await eventually(served)
        with pytest.raises(DisplayUnavailable, match=r"did not start: .*see .*display-00\.log"):
            await machine.pool.prepare(slot)
    finally:
        stranger.terminate()
        await stranger.wait()


async def test_a_bridge_port_in_use_is_named(machine: Machine) -> None:
    slot = await prepared(machine)
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", slot.bridge_port)
    async with server:
        with pytest.raises(DisplayUnavailable, match=f"Port {slot.bridge_port}.*BRIDGE_PORT_BASE"):
            await machine.pool.show(slot)


async def test_without_a_supervisor_the_fault_says_how_to_start(own_layout: PoolLayout) -> None:
    own_layout.make_folders()
    pool = SlotPool(Supervisor(own_layout.supervisor_socket), own_layout)
    slot = pool.try_lease()
    assert slot is not None

    with pytest.raises(DisplayUnavailable, match="pilothouse supervise"):
        await pool.prepare(slot)
    await pool.release(slot)

    assert pool.free == 2


async def test_a_sweep_ends_what_a_killed_web_server_left(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    successor = SlotPool(machine.supervisor, machine.layout)

    await successor.sweep()

    assert [child.name() for child in machine.children()] == ["sleep"]


async def test_a_release_that_is_cancelled_still_hands_the_slot_back(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    release = asyncio.create_task(machine.pool.release(slot))
    await asyncio.sleep(0)
    release.cancel()
    await asyncio.gather(release, return_exceptions=True)

    assert machine.pool.free == 2
    assert await machine.pool.is_display_up(await prepared(machine))


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
