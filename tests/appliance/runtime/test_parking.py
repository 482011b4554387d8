import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from appliance.events import StepPlanned
from appliance.persistence.database import Database, Transaction
from appliance.persistence.runs import add_run
from appliance.runtime.held import HeldBrowser
from appliance.runtime.parking import Parking
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, Lifecycle, SessionStatus, StopStrategy
from tests.appliance.runtime.rig import Rig, open_rig
from tests.site import Site

OpenRig = Callable[..., AbstractAsyncContextManager[Rig]]
DONE = {"done": {"text": "Done.", "success": True}}


@pytest.fixture
async def rig(tmp_path: Path, database: Database) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path, database) as rig:
        yield rig


@pytest.fixture
def rig_with(tmp_path: Path, database: Database) -> OpenRig:
    def make(**settings: Any) -> AbstractAsyncContextManager[Rig]:
        return open_rig(tmp_path, database, **settings)

    return make


async def _queue(rig: Rig, *tasks: tuple[UUID, str]) -> None:
    """Write the waiting runs at once, so that the dispatcher sees all or none."""

    async def write(transaction: Transaction) -> None:
        for session_id, task in tasks:
            await add_run(transaction, session_id, task=task, model="house-model")

    await rig.equipment.database.writer.submit(write)


async def _state(rig: Rig, session: Any) -> tuple[SessionStatus, Lifecycle | None]:
    found = await rig.sessions.find(session.id)
    return found.status, found.lifecycle


async def test_the_next_task_goes_on_in_the_same_browser_on_the_page_as_it_was(rig: Rig, site: Site):
    url = site.url("/product.html")
    session = await rig.run("RUN-one Go there.", [{"navigate": {"url": url}}, DONE], keep_alive=True)
    assert (session.status, session.lifecycle) == (SessionStatus.IDLE, Lifecycle.PARKED)
    slot = rig.dispatcher.find_slot(session.id)
    assert slot is not None
    assert rig.equipment.pool.at_work == 0
    (browser,) = rig.chromiums()
    again = await rig.run("RUN-two What is there?", [DONE], session_id=session.id)
    assert (again.status, again.lifecycle, again.output) == (SessionStatus.IDLE, Lifecycle.PARKED, "Done.")
    assert rig.chromiums() == [browser]
    assert rig.dispatcher.find_slot(session.id) == slot
    planned = [record.event for record in (await rig.sessions.read_events(session.id)).events]
    assert [event.url for event in planned if isinstance(event, StepPlanned)][-1] == url


async def test_a_session_that_is_not_kept_alive_leaves_no_browser(rig: Rig):
    session = await rig.run("RUN-once Go.", [DONE])
    assert (session.status, session.lifecycle) == (SessionStatus.STOPPED, None)
    assert rig.dispatcher.find_slot(session.id) is None
    await rig.eventually(lambda: rig.equipment.pool.free == 1)
    assert rig.chromiums() == []


@pytest.mark.parametrize(
    ("steps", "wish", "ending"),
    [
        ([{"wait": {"seconds": 0}}], {"max_steps": 2}, Ending.STEPS_SPENT),
        ([{"__hang__": True}], {"timeout": 4.0}, Ending.TIMED_OUT),
        ([{"__http__": 401}], {}, Ending.FAILED),
    ],
)
async def test_a_browser_that_lives_is_parked_however_its_run_ended(rig: Rig, steps: Any, wish: Any, ending: Ending):
    session = await rig.run("RUN-ends Go.", steps, keep_alive=True, **wish)
    assert [run.ending for run in await rig.sessions.list_runs(session.id)] == [ending]
    assert session.lifecycle is Lifecycle.PARKED
    again = await rig.run("RUN-again Go on.", [DONE], session_id=session.id, timeout=60.0)
    assert (again.status, again.output) == (SessionStatus.IDLE, "Done.")


async def test_a_stopped_task_leaves_the_browser_and_a_stopped_session_does_not(rig: Rig):
    session = await rig.create("RUN-hangs Go.", [{"__hang__": True}], keep_alive=True)
    await rig.eventually(lambda: rig.asked("RUN-hangs"))
    stopped = await rig.sessions.stop(session.id, StopStrategy.TASK)
    assert (stopped.status, stopped.lifecycle) == (SessionStatus.IDLE, Lifecycle.PARKED)
    stopped = await rig.sessions.stop(session.id, StopStrategy.TASK)
    assert (stopped.status, stopped.lifecycle) == (SessionStatus.IDLE, Lifecycle.PARKED)
    assert rig.dispatcher.find_slot(session.id) is not None
    again = await rig.run("RUN-after Go on.", [DONE], session_id=session.id)
    assert again.output == "Done."
    await rig.sessions.stop(session.id)
    assert await _state(rig, session) == (SessionStatus.STOPPED, None)
    assert rig.dispatcher.find_slot(session.id) is None
    await rig.eventually(lambda: rig.equipment.pool.free == 1)
    assert rig.chromiums() == []


async def test_a_session_that_is_stopped_while_its_run_works_parks_nothing(rig: Rig):
    session = await rig.create("RUN-hangs Go.", [{"__hang__": True}], keep_alive=True)
    await rig.eventually(lambda: rig.asked("RUN-hangs"))
    await rig.sessions.stop(session.id)
    assert await _state(rig, session) == (SessionStatus.STOPPED, None)
    await rig.eventually(lambda: rig.equipment.pool.free == 1)


async def test_a_deleted_session_takes_its_parked_browser_with_it(rig: Rig):
    session = await rig.run("RUN-one Go.", [DONE], keep_alive=True)
    await rig.sessions.delete(session.id)
    assert rig.dispatcher.find_slot(session.id) is None
    await rig.eventually(lambda: rig.equipment.pool.free == 1)
    assert rig.chromiums() == []


async def test_a_parked_browser_gives_way_to_a_run_that_comes(rig: Rig):
    kept = await rig.run("RUN-kept Go.", [DONE], keep_alive=True)
    other = await rig.run("RUN-other Go.", [DONE])
    assert other.output == "Done."
    assert await _state(rig, kept) == (SessionStatus.IDLE, None)
    assert "gave_way" in await rig.notices(kept)
    again = await rig.run("RUN-again Go on.", [DONE], session_id=kept.id)
    assert (again.status, again.lifecycle) == (SessionStatus.IDLE, Lifecycle.PARKED)


async def test_a_session_that_parks_while_a_run_waits_gives_way_at_once(rig: Rig):
    steps = [{"reply": DONE, "__delay__": 1.0}]
    kept = await rig.create("RUN-kept Go.", steps, keep_alive=True)
    await rig.eventually(lambda: rig.asked("RUN-kept"))
    waiting = await rig.create("RUN-waiting Go.", [DONE])
    assert (await rig.ended(waiting)).output == "Done."
    assert await _state(rig, kept) == (SessionStatus.IDLE, None)


async def test_a_follow_up_does_not_overtake_an_older_run_whose_slot_its_browser_holds(rig: Rig):
    kept = await rig.run("RUN-kept Go.", [DONE], keep_alive=True)
    other = await rig.sessions.create(SessionWish(model="house-model"))
    rig.stand_in.add("RUN-older", [DONE])
    rig.stand_in.add("RUN-newer", [DONE])

    await _queue(rig, (other.id, "RUN-older Go."), (kept.id, "RUN-newer Go on."))
    rig.dispatcher.wake()
    await rig.ended(other)
    await rig.ended(kept)
    (older,), (_, newer) = await rig.sessions.list_runs(other.id), await rig.sessions.list_runs(kept.id)
    assert older.ended_at is not None
    assert newer.started_at is not None
    assert older.ended_at <= newer.started_at


async def test_a_follow_up_keeps_its_browser_where_another_one_can_give_way(rig_with: OpenRig):
    async with rig_with(max_concurrent_sessions=2) as rig:
        first = await rig.run("RUN-first Go.", [DONE], keep_alive=True)
        second = await rig.run("RUN-second Go.", [DONE], keep_alive=True)
        slot = rig.dispatcher.find_slot(first.id)
        other = await rig.sessions.create(SessionWish(model="house-model"))
        rig.stand_in.add("RUN-third", [DONE])
        await _queue(rig, (other.id, "RUN-third Go."), (first.id, "RUN-first Go on."))
        rig.dispatcher.wake()
        await rig.ended(other)
        await rig.ended(first)
        assert rig.dispatcher.find_slot(first.id) == slot
        assert "gave_way" in await rig.notices(second)


async def test_the_oldest_gives_way_first_and_no_more_than_needed(rig_with: OpenRig):
    async with rig_with(max_concurrent_sessions=2) as rig:
        first = await rig.run("RUN-first Go.", [DONE], keep_alive=True)
        second = await rig.run("RUN-second Go.", [DONE], keep_alive=True)
        await rig.run("RUN-first Go on.", session_id=first.id)  # parked after the second one now
        await rig.run("RUN-third Go.", [DONE])
        assert (await _state(rig, first))[1] is Lifecycle.PARKED
        assert (await _state(rig, second))[1] is None


async def test_a_browser_that_nobody_comes_back_to_is_closed_and_its_conversation_goes_on(rig_with: OpenRig):
    async with rig_with(keep_alive_idle_timeout=1.0) as rig:
        session = await rig.run("RUN-one Go.", [DONE], keep_alive=True)

        async def is_stopped() -> bool:
            return await _state(rig, session) == (SessionStatus.STOPPED, None)

        await rig.until(session.id, is_stopped)
        assert "idle_timeout" in await rig.notices(session)
        await rig.eventually(lambda: rig.equipment.pool.free == 1)
        again = await rig.run("RUN-two Go on.", [DONE], session_id=session.id)
        assert again.output == "Done."


@pytest.mark.parametrize("what", ["chromium", "display"])
async def test_a_browser_that_dies_while_it_is_parked_leaves_an_idle_session(rig: Rig, what: str):
    session = await rig.run("RUN-one Go.", [DONE], keep_alive=True)
    victims = rig.chromiums() if what == "chromium" else rig.displays()
    victims[0].kill()

    async def is_gone() -> bool:
        return await _state(rig, session) == (SessionStatus.IDLE, None)

    await rig.until(session.id, is_gone)
    assert "parked_browser_lost" in await rig.notices(session)
    again = await rig.run("RUN-two Go on.", [DONE], session_id=session.id)
    assert again.output == "Done."


async def test_a_follow_up_may_change_screen_and_domains(rig: Rig, site: Site):
    url = site.url("/product.html")
    session = await rig.run("RUN-one Go.", [{"navigate": {"url": url}}, DONE], keep_alive=True)
    steps = [{"navigate": {"url": url}}, DONE]
    await rig.run("RUN-two Go.", steps, session_id=session.id, allowed_domains=("elsewhere.example",))
    texts = [str(record.event) for record in (await rig.sessions.read_events(session.id)).events]
    assert any("outside the domains" in text for text in texts)
    (before,) = rig.chromiums()
    sized = await rig.run("RUN-three Go.", [DONE], session_id=session.id, screen_width=1280, screen_height=800)
    assert (sized.status, sized.lifecycle) == (SessionStatus.IDLE, Lifecycle.PARKED)
    (after,) = rig.chromiums()
    assert after != before


async def test_a_follow_up_that_is_stopped_before_it_begins_leaves_the_browser_parked(rig: Rig):
    session = await rig.run("RUN-one Go.", [DONE], keep_alive=True)
    rig.stand_in.add("RUN-two", [{"__hang__": True}])
    await rig.create("RUN-two Go on.", session_id=session.id)
    await rig.sessions.stop(session.id, StopStrategy.TASK)
    assert await _state(rig, session) == (SessionStatus.IDLE, Lifecycle.PARKED)
    assert rig.dispatcher.find_slot(session.id) is not None


async def test_a_browser_that_is_put_back_is_parked_again_and_wakes_nobody(rig: Rig):
    bells: list[int] = []
    parking = Parking(rig.equipment, lambda: bells.append(1))
    slot = rig.equipment.pool.try_lease()
    assert slot is not None
    held, session_id = HeldBrowser(rig.equipment, slot), uuid4()
    await held.open()
    parking.park(session_id, uuid4(), held)
    assert len(bells) == 1
    parked = parking.take(session_id)
    assert parked is not None and parking.find_slot(session_id) is None
    parking.put_back(parked)
    assert (len(bells), parking.find_slot(session_id)) == (1, slot)
    (chromium,) = rig.chromiums()
    chromium.kill()
    await rig.eventually(lambda: rig.equipment.pool.free == 1)
    assert (len(bells), parking.find_slot(session_id)) == (2, None)


async def test_a_browser_that_cannot_be_watched_is_let_go_and_its_slot_is_free(rig: Rig):
    session = await rig.run("RUN-one Go.", [DONE])
    await rig.eventually(lambda: rig.equipment.pool.free == 1)
    (run,) = await rig.sessions.list_runs(session.id)
    bells: list[int] = []
    parking = Parking(rig.equipment, lambda: bells.append(1))
    slot = rig.equipment.pool.try_lease()
    assert slot is not None
    with capture_logs() as logs:
        parking.park(session.id, run.id, HeldBrowser(rig.equipment, slot))  # it was never opened
        await rig.eventually(lambda: rig.equipment.pool.free == 1)
        await rig.eventually(lambda: len(bells) == 2)
    assert parking.find_slot(session.id) is None
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == [
        "a parked browser could not be watched"
    ]
    assert "parked_browser_lost" in await rig.notices(session)


async def test_the_end_of_the_server_closes_what_is_parked(rig: Rig):
    session = await rig.run("RUN-one Go.", [DONE], keep_alive=True)
    async with asyncio.timeout(60):
        await rig.dispatcher.close()
    assert rig.chromiums() == []
    assert rig.equipment.pool.free == 1
    assert await _state(rig, session) == (SessionStatus.IDLE, None)
