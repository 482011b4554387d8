from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from appliance.persistence.database import Database
from appliance.words import SessionStatus
from tests.appliance.runtime.rig import Rig, open_rig

DONE = {"done": {"text": "Done.", "success": True}}


@pytest.fixture
async def rig(tmp_path: Path, database: Database) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path, database, warm_slots=1) as rig:
        yield rig


async def test_a_blank_browser_waits_is_taken_by_the_next_run_and_replaced_afterwards(rig: Rig):
    await rig.eventually(rig.chromiums)
    (blank,) = rig.chromiums()
    assert (rig.dispatcher.taken, rig.equipment.pool.at_work) == (0, 0)
    session = await rig.create("RUN-one Go.", [{"__hang__": True}])
    await rig.eventually(lambda: rig.asked("RUN-one"))
    assert rig.chromiums() == [blank]
    assert (rig.dispatcher.taken, rig.equipment.pool.at_work) == (1, 1)
    assert rig.dispatcher.find_slot(session.id) is not None
    await rig.sessions.stop(session.id)
    await rig.eventually(lambda: rig.chromiums() not in ([], [blank]))
    assert rig.dispatcher.taken == 0


async def test_a_run_that_comes_while_it_is_being_opened_waits_for_that(rig: Rig):
    await rig.eventually(lambda: rig.equipment.pool.free == 0)
    session = await rig.run("RUN-early Go.", [DONE])
    assert session.output == "Done."


async def test_a_run_with_another_screen_gets_one_of_its_own_on_the_same_slot(rig: Rig):
    await rig.eventually(rig.chromiums)
    (blank,) = rig.chromiums()
    session = await rig.create("RUN-one Go.", [{"__hang__": True}], screen_width=1280, screen_height=800)
    await rig.eventually(lambda: rig.asked("RUN-one"))
    (browser,) = rig.chromiums()
    assert browser != blank
    assert "--window-size=1280,800" in browser.cmdline()
    await rig.sessions.stop(session.id)


@pytest.mark.parametrize("what", ["chromium", "display"])
async def test_one_that_dies_is_replaced(rig: Rig, what: str):
    await rig.eventually(rig.chromiums)
    (blank,) = rig.chromiums()
    victim = blank if what == "chromium" else rig.displays()[0]
    victim.kill()
    await rig.eventually(lambda: rig.chromiums() not in ([], [blank]))
    assert (await rig.run("RUN-one Go.", [DONE])).output == "Done."


async def test_it_takes_no_slot_while_a_run_waits(rig: Rig):
    first = await rig.create("RUN-first Go.", [{"reply": DONE, "__delay__": 1.0}])
    others = [await rig.create(f"RUN-next{number} Go.", [DONE]) for number in range(2)]
    for session in (first, *others):
        assert (await rig.ended(session)).output == "Done."
    await rig.eventually(lambda: rig.dispatcher.taken == 0 and len(rig.chromiums()) == 1)


async def test_a_parked_session_does_not_give_way_to_a_blank_browser(rig: Rig):
    session = await rig.run("RUN-one Go.", [DONE], keep_alive=True)
    (browser,) = rig.chromiums()
    rig.dispatcher.wake()
    again = await rig.run("RUN-two Go on.", [DONE], session_id=session.id)
    assert again.status is SessionStatus.IDLE
    assert rig.chromiums() == [browser]


async def test_a_server_whose_browsers_cannot_start_tries_again_ever_later(tmp_path: Path, database: Database):
    with capture_logs() as logs:
        async with open_rig(tmp_path, database, warm_slots=1, chromium_path="/nowhere/chromium") as rig:
            await rig.eventually(lambda: len(_pauses(logs)) == 3)
            assert _pauses(logs) == [1.0, 2.0, 4.0]
            session = await rig.run("RUN-one Go.", [DONE])
            assert session.status is SessionStatus.ERROR
            assert "CHROMIUM_PATH" in (session.last_step_summary or "")
            await rig.eventually(lambda: rig.equipment.pool.free == 1)


def _pauses(logs: list[Any]) -> list[float]:
    return [entry["again_in"] for entry in logs if "again_in" in entry]


async def test_the_end_of_the_server_closes_it(rig: Rig):
    await rig.eventually(rig.chromiums)
    await rig.dispatcher.close()
    assert rig.chromiums() == []
    assert rig.equipment.pool.free == 1
