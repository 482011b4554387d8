"""While a run is paused its time stands still and nothing begins."""

import asyncio

import pytest

from appliance.pause import Pause

FAR = 60.0
SOON = 0.02


async def test_who_waits_goes_on_at_once_while_nothing_is_paused():
    async with asyncio.timeout(FAR):
        await Pause().wait()


async def test_who_waits_goes_on_when_the_run_is_resumed_and_not_paused_again_by_then():
    pause = Pause()
    pause.pause()
    waiting = asyncio.create_task(pause.wait())
    await asyncio.sleep(SOON)
    pause.resume()
    pause.pause()
    await asyncio.sleep(SOON)
    assert not waiting.done()
    pause.resume()
    async with asyncio.timeout(FAR):
        await waiting


async def test_pausing_what_is_paused_and_resuming_what_goes_on_change_nothing():
    pause = Pause()
    assert not pause.resume()
    assert pause.pause()
    assert not pause.pause()
    assert (pause.is_paused, pause.count) == (True, 1)
    assert pause.resume()
    assert not pause.resume()
    assert (pause.is_paused, pause.count) == (False, 1)


async def test_the_time_of_the_run_stands_still_in_every_pause():
    pause = Pause()
    for _ in range(2):
        pause.pause()
        stood, passed = pause.time(), pause.seconds
        await asyncio.sleep(SOON)
        assert pause.time() == stood
        assert pause.seconds > passed
        pause.resume()
        assert pause.time() >= stood


async def test_a_clock_does_not_strike_in_a_pause_and_has_its_time_afterwards():
    pause = Pause()
    with pytest.raises(TimeoutError):
        async with pause.timeout(SOON) as clock:
            pause.pause()
            await asyncio.sleep(5 * SOON)
            assert not clock.expired()
            pause.resume()
            await asyncio.sleep(FAR)
    assert clock.expired()


async def test_a_clock_that_is_made_in_a_pause_begins_to_run_when_that_ends():
    pause = Pause()
    pause.pause()
    with pytest.raises(TimeoutError):
        async with pause.timeout(SOON) as clock:
            await asyncio.sleep(5 * SOON)
            assert not clock.expired()
            pause.resume()
            await asyncio.sleep(FAR)


async def test_a_clock_can_be_set_to_another_time_also_in_a_pause():
    pause = Pause()
    with pytest.raises(TimeoutError):
        async with pause.timeout(None) as clock:
            assert clock.when is None
            pause.pause()
            clock.reschedule(pause.time() - 1)
            await asyncio.sleep(SOON)
            pause.resume()
            await asyncio.sleep(FAR)


async def test_a_clock_whose_time_is_up_is_left_alone():
    pause = Pause()
    with pytest.raises(TimeoutError):
        async with pause.timeout(SOON) as clock:
            try:
                await asyncio.sleep(FAR)
            finally:
                pause.pause()
                pause.resume()
    assert clock.expired()


async def test_a_sleep_takes_the_time_of_the_run():
    pause = Pause()
    pause.pause()
    sleeping = asyncio.create_task(pause.sleep(SOON))
    await asyncio.sleep(5 * SOON)
    assert not sleeping.done()
    pause.resume()
    async with asyncio.timeout(FAR):
        await sleeping
