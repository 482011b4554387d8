import asyncio
import os
import signal

import pytest
import websockets

from appliance.errors import DisplayUnavailable
from tests.appliance.displays.machine import (
    Machine,
    eventually,
    prepared,
    read_frame,
    shared_memory_of,
)


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


async def test_a_view_cannot_be_had_after_the_release(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.release(slot)

    with pytest.raises(DisplayUnavailable, match="closed"):
        await machine.pool.show(slot)


async def test_a_bridge_port_in_use_is_named(machine: Machine) -> None:
    slot = await prepared(machine)
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", slot.bridge_port)
    async with server:
        with pytest.raises(DisplayUnavailable, match=f"Port {slot.bridge_port}.*BRIDGE_PORT_BASE"):
            await machine.pool.show(slot)
