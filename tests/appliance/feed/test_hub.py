import asyncio
from uuid import uuid4

from appliance.feed.hub import Hub


async def test_a_signal_wakes_every_reader_of_the_session_and_of_all_sessions() -> None:
    hub, session_id = Hub(), uuid4()
    async with hub.watch(session_id) as one, hub.watch(session_id) as two, hub.watch() as of_all:
        waiting = asyncio.gather(*(watch.wait(5) for watch in (one, two, of_all)))
        await asyncio.sleep(0)
        hub.signal(session_id)
        assert await waiting == [True, True, True]


async def test_a_signal_between_two_waits_is_heard_at_the_next() -> None:
    hub, session_id = Hub(), uuid4()
    async with hub.watch(session_id) as watch:
        hub.signal(session_id)
        assert await watch.wait(5)
        assert not await watch.wait(0.01)


async def test_another_session_s_signal_wakes_nobody() -> None:
    hub = Hub()
    async with hub.watch(uuid4()) as watch:
        hub.signal(uuid4())
        assert not await watch.wait(0.01)


async def test_nothing_is_kept_of_readers_that_left() -> None:
    hub, session_id = Hub(), uuid4()
    async with hub.watch(session_id), hub.watch():
        assert len(hub._watches) == 2
    hub.signal(session_id)
    assert hub._watches == {}
