import asyncio

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from appliance.errors import DatabaseUnavailable
from appliance.events import tokens_of
from appliance.persistence.ledger import list_charges
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.sessions import Sessions
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, Lifecycle, RunStatus, SessionStatus
from tests.appliance.runtime.rig import open_rig


@pytest.fixture
async def dispatcher(equipment):
    dispatcher = Dispatcher(equipment)
    yield dispatcher
    await dispatcher.close()


async def _rename(database, old, new):
    await database.writer.submit(lambda transaction: transaction.execute(text(f"ALTER TABLE {old} RENAME TO {new}")))


@pytest.mark.parametrize("table", ["runs", "events"])
async def test_a_database_out_of_order_puts_waiting_runs_off_until_it_is_in_order(dispatcher, equipment, table):
    database = equipment.database
    sessions = Sessions(database, equipment.hub, dispatcher, ModelRules(equipment.keys), equipment.seal)
    session = await sessions.create(SessionWish(task="Find the lamp."))
    await _rename(database, table, "elsewhere")
    with capture_logs() as logs:
        dispatcher.start()
        async with asyncio.timeout(5):
            # A line in the log wakes nobody.
            while not any(entry["log_level"] == "error" for entry in logs):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await _rename(database, "elsewhere", table)
        async with asyncio.timeout(20), equipment.hub.watch(session.id) as watch:
            # There is no supervisor here, so the run ends as soon as it has begun.
            while (await sessions.find(session.id)).status is not SessionStatus.ERROR:
                await watch.wait(1)
    assert len([entry for entry in logs if "out of order" in entry.get("reason", "")]) == 1


async def test_a_paused_run_stands_still_until_it_is_resumed_and_can_be_stopped(tmp_path, database):
    steps = [{"reply": {"wait": {"seconds": 0}}, "__delay__": 0.3}] * 3 + [{"done": {"text": "Done.", "success": True}}]
    async with open_rig(tmp_path, database) as rig:
        session = await rig.create("RUN-paused Go.", steps)
        await rig.eventually(lambda: rig.asked("RUN-paused"))
        assert await rig.dispatcher.pause(session.id)
        assert await rig.dispatcher.pause(session.id)
        found = await rig.sessions.find(session.id)
        assert (found.status, found.lifecycle) == (SessionStatus.RUNNING, Lifecycle.PAUSED)
        await asyncio.sleep(1.0)  # longer than a step takes, and nothing may happen
        assert rig.asked("RUN-paused") == 1
        assert await rig.dispatcher.resume(session.id)
        ended = await rig.ended(session)
        assert (ended.lifecycle, ended.output) == (None, "Done.")
        assert [code for code in await rig.notices(session) if code in ("paused", "resumed")] == ["paused", "resumed"]
        assert not await rig.dispatcher.pause(session.id)
        assert not await rig.dispatcher.resume(session.id)
        other = await rig.create("RUN-stopped Go.", [{"__hang__": True}])
        await rig.eventually(lambda: rig.asked("RUN-stopped"))
        assert await rig.dispatcher.pause(other.id)
        stopped = await rig.sessions.stop(other.id)
        assert (stopped.status, stopped.lifecycle) == (SessionStatus.STOPPED, None)


async def test_an_ending_that_could_not_be_written_is_written_when_the_database_is_in_order(tmp_path, database):
    steps = [{"reply": {"wait": {"seconds": 0}}, "__usage__": {"input": 1_000, "output": 0}}, {"__hang__": True}]
    async with open_rig(tmp_path, database) as rig:
        session = await rig.create("RUN-lost Go.", steps)
        await rig.eventually(lambda: rig.asked("RUN-lost") == 2)
        await _rename(database, "runs", "elsewhere")
        for chromium in rig.chromiums():
            chromium.kill()
        await rig.eventually(lambda: rig.equipment.pool.free == 1)
        await _rename(database, "elsewhere", "runs")
        ended = await rig.ended(session)
        assert (ended.status, ended.lifecycle) == (SessionStatus.ERROR, None)
        async with database.read() as transaction:
            charges = [row.charge for row in await list_charges(transaction, session.id)]
        assert charges[-1].is_estimated, "the call that was cut off is charged"
        (run,) = await rig.sessions.list_runs(session.id)
        assert run.tokens == ended.tokens == tokens_of(charges)


async def test_a_session_whose_ending_could_not_be_written_can_be_stopped(tmp_path, database):
    async with open_rig(tmp_path, database) as rig:
        session = await rig.create("RUN-stuck Go.", [{"__hang__": True}], keep_alive=True)
        await rig.eventually(lambda: rig.asked("RUN-stuck") == 1)
        await _rename(database, "runs", "elsewhere")
        for chromium in rig.chromiums():
            chromium.kill()
        await rig.eventually(lambda: rig.equipment.pool.free == 1)
        with pytest.raises(DatabaseUnavailable):
            await rig.sessions.stop(session.id)
        await _rename(database, "elsewhere", "runs")
        stopped = await rig.sessions.stop(session.id)
        assert (stopped.status, stopped.is_closed) == (SessionStatus.ERROR, True)
        (run,) = await rig.sessions.list_runs(session.id)
        assert (run.status, run.ending) == (RunStatus.ENDED, Ending.FAILED)


async def test_two_runs_that_race_for_the_last_slot_both_have_their_turn(tmp_path, database):
    async with open_rig(tmp_path, database) as rig:
        done = [{"done": {"text": "Done.", "success": True}}]
        both = await asyncio.gather(rig.create("RUN-one Go.", done), rig.create("RUN-two Go.", done))
        assert [(await rig.ended(session)).output for session in both] == ["Done.", "Done."]
        await rig.eventually(lambda: rig.equipment.pool.free == 1)
