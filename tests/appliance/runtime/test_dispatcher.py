import asyncio

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.sessions import Sessions
from appliance.runtime.wishes import SessionWish
from appliance.words import SessionStatus


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
