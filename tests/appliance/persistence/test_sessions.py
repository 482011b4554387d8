from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import uuid4

import pytest

from appliance.errors import NotFound
from appliance.events import TokenCount
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.queue import queued_runs
from appliance.persistence.records import FieldWarning, SessionRecord
from appliance.persistence.runs import add_run, change_run, find_latest_run, list_runs
from appliance.persistence.sessions import (
    add_session,
    change_session,
    delete_session,
    find_session,
    list_sessions,
)
from appliance.words import Effort, Ending, RunStatus, SessionStatus


def make_session(**values: object) -> SessionRecord:
    now = utc_now()
    base = {"id": new_id(), "status": SessionStatus.CREATED, "model": "m", "wire_model": "bu-max"}
    return SessionRecord(**{**base, "created_at": now, "updated_at": now, **values})


async def test_a_session_comes_back_as_it_was_written(database: Database) -> None:
    session = make_session(
        created_at=datetime(2026, 7, 1, 14, 0, tzinfo=timezone(timedelta(hours=2))),
        output={"rows": [1, 2.5, None, "ä"]},
        output_schema={"type": "object"},
        effort=Effort.XHIGH,
        max_cost_usd=Decimal("0.00005"),
        timeout=1.5,
        tokens=TokenCount(1, 2, 3, 4),
        cost_usd=Decimal("1.234567"),
        warnings=(FieldWarning("skills", "inert", "…"),),
        allowed_domains=("good.test", "*.good.test"),
        sensitive_data="sealed",
    )
    await database.writer.submit(lambda tx: add_session(tx, session))
    async with database.read() as connection:
        found = await find_session(connection, session.id)
    assert found == session
    assert found.created_at.tzinfo is UTC
    assert format(found.max_cost_usd or 0, "f") == "0.00005"


async def test_a_text_answer_of_digits_stays_a_text(database: Database) -> None:
    session = make_session(output="42")
    await database.writer.submit(lambda tx: add_session(tx, session))
    async with database.read() as connection:
        assert (await find_session(connection, session.id)).output == "42"


async def test_totals_add_up_and_named_fields_are_replaced(database: Database) -> None:
    session = make_session(tokens=TokenCount(10, 0, 0, 5))
    await database.writer.submit(lambda tx: add_session(tx, session))
    for _ in range(3):
        await database.writer.submit(
            lambda tx: change_session(
                tx,
                session.id,
                status=SessionStatus.RUNNING,
                more_steps=1,
            )
        )
    async with database.read() as connection:
        found = await find_session(connection, session.id)
    assert found.status is SessionStatus.RUNNING
    assert found.tokens == session.tokens
    assert found.step_count == 3
    assert found.updated_at > session.updated_at


async def test_a_deleted_session_is_as_good_as_absent(database: Database) -> None:
    session = make_session()
    await database.writer.submit(lambda tx: add_session(tx, session))
    await database.writer.submit(lambda tx: delete_session(tx, session.id))
    async with database.read() as connection:
        with pytest.raises(NotFound, match="Session not found"):
            await find_session(connection, session.id)
        assert (await list_sessions(connection)).total == 0
    for change in (delete_session, change_session):
        with pytest.raises(NotFound):
            await database.writer.submit(lambda tx, change=change: change(tx, session.id))
    with pytest.raises(NotFound):
        await database.writer.submit(lambda tx: change_session(tx, uuid4(), title="x"))


async def test_the_list_is_newest_first_and_empty_past_its_end(database: Database) -> None:
    made = [make_session(title=str(number)) for number in range(5)]
    for session in made:
        await database.writer.submit(lambda tx, session=session: add_session(tx, session))
    async with database.read() as connection:
        first = await list_sessions(connection, page=1, page_size=2)
        last = await list_sessions(connection, page=3, page_size=2)
        beyond = await list_sessions(connection, page=9, page_size=2)
    assert [session.title for session in first.sessions] == ["4", "3"]
    assert [session.title for session in last.sessions] == ["0"]
    assert (first.total, beyond.total, beyond.sessions) == (5, 5, ())


async def test_the_place_in_the_queue_counts_the_runs_that_came_before(database: Database) -> None:
    first, second = make_session(), make_session()

    async def write(tx: Transaction) -> None:
        for session in (first, second):
            await add_session(tx, session)
            await add_run(tx, session.id, task="t", model="m")

    await database.writer.submit(write)
    async with database.read() as connection:
        assert [session.queue_position for session in (await list_sessions(connection)).sessions] == [2, 1]
        run, later = await queued_runs(connection)
    assert (run.session_id, later.session_id) == (first.id, second.id)
    await database.writer.submit(lambda tx: change_run(tx, run.id, status=RunStatus.RUNNING, started_at=utc_now()))
    async with database.read() as connection:
        assert (await find_session(connection, first.id)).queue_position is None
        assert (await find_session(connection, second.id)).queue_position == 1


async def test_the_runs_of_a_session_are_numbered_and_keep_their_own_results(database: Database) -> None:
    session = make_session()
    await database.writer.submit(lambda tx: add_session(tx, session))
    first = await database.writer.submit(lambda tx: add_run(tx, session.id, task="one", model="m"))
    await database.writer.submit(
        lambda tx: change_run(tx, first.id, status=RunStatus.ENDED, ending=Ending.DONE, output=[1], is_successful=True)
    )
    second = await database.writer.submit(lambda tx: add_run(tx, session.id, task="two", model="m"))
    async with database.read() as connection:
        runs = await list_runs(connection, session.id)
        assert await find_latest_run(connection, session.id) == second
    assert [(run.number, run.task, run.output) for run in runs] == [(1, "one", [1]), (2, "two", None)]
    with pytest.raises(NotFound):
        await database.writer.submit(lambda tx: change_run(tx, uuid4(), ending=Ending.DONE))
