import asyncio
import os
import signal
import subprocess
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from appliance.displays.layout import PoolLayout
from appliance.displays.pool import SlotPool
from appliance.displays.probe import find_listener
from appliance.displays.supervisor import Supervisor
from appliance.errors import DisplayUnavailable
from tests.appliance.displays.machine import (
    Machine,
    connect,
    connect_x,
    eventually,
    prepared,
    start_supervisord,
    stop_supervisord,
)


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


async def test_a_killed_display_is_noticed_leaves_nothing_and_comes_back_at_the_next_lease(machine: Machine) -> None:
    slot = await prepared(machine)
    os.kill(await machine.pid("display:display-00"), signal.SIGKILL)

    async def down() -> bool:
        return not await machine.pool.is_display_up(slot)

    await eventually(down)
    await machine.pool.release(slot)
    assert not machine.pool.layout.display_socket(slot.number).exists()
    assert not machine.pool.layout.display_lock(slot.number).exists()
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


async def test_without_a_supervisor_the_fault_says_how_to_start(own_layout: PoolLayout) -> None:
    own_layout.make_folders()
    pool = SlotPool(Supervisor(own_layout.supervisor_socket), own_layout)
    slot = pool.try_lease()
    assert slot is not None

    with pytest.raises(DisplayUnavailable, match="pilothouse supervise"):
        await pool.prepare(slot)
    await pool.release(slot)

    assert pool.free == 2


async def test_a_release_that_is_cancelled_still_hands_the_slot_back(machine: Machine) -> None:
    slot = await prepared(machine)
    await machine.pool.show(slot)
    release = asyncio.create_task(machine.pool.release(slot))
    await asyncio.sleep(0)
    release.cancel()
    await asyncio.gather(release, return_exceptions=True)

    assert machine.pool.free == 2
    assert await machine.pool.is_display_up(await prepared(machine))
