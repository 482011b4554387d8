"""Caps tell of their marks in the transaction that crosses them, once for each window."""

from contextlib import suppress
from datetime import datetime
from decimal import Decimal

from sqlalchemy import text

from appliance.errors import PilothouseError
from appliance.events import Charge, Notice
from appliance.feed.hub import Hub
from appliance.feed.writer import Feed, write_event
from appliance.money.windows import BEGINNING
from appliance.persistence.caps import list_marks, set_cap
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.events import read_events
from appliance.persistence.ledger import sum_spent
from appliance.persistence.records import CapRecord, Payer, RunRecord
from appliance.persistence.teams import find_first_team
from appliance.words import CapScope, Period, Purpose
from tests.appliance.runtime import spending


async def make_run(database: Database) -> RunRecord:
    async with database.read() as transaction:
        team = await find_first_team(transaction)
    return await spending.make_run(database, Payer(team.id))


async def cap(
    database: Database, hard: str | None, soft: str | None = None, period: Period = Period.LIFETIME
) -> CapRecord:
    limits = (None if hard is None else Decimal(hard), None if soft is None else Decimal(soft))
    return await database.writer.submit(lambda tx: set_cap(tx, CapScope.INSTANCE, None, period, limits))


def costing(amount: str) -> tuple[Charge, ...]:
    return (Charge(Purpose.STEP, "m", cost_usd=Decimal(amount)),)


async def spend(database: Database, run: RunRecord, amount: str) -> None:
    await Feed(database, Hub()).append(run.session_id, run.id, Notice("x", "."), charges=costing(amount))


async def alerts(database: Database, run: RunRecord) -> list[str]:
    async with database.read() as transaction:
        found = await read_events(transaction, run.session_id)
    events = [record.event for record in found.events]
    return [event.text for event in events if isinstance(event, Notice) and event.code == "cap_alert"]


async def test_each_mark_is_told_once_in_the_feed_of_the_session_that_crossed_it(database: Database) -> None:
    await cap(database, "1", "0.7")
    first, second = await make_run(database), await make_run(database)
    await spend(database, first, "0.5")
    await spend(database, second, "0.1")
    await spend(database, second, "0.2")
    await spend(database, first, "0.1")
    await spend(database, first, "0.3")
    assert [text[:42] for text in await alerts(database, first)] == [
        "50 % of the cap of $1.00 in all for this i",
        "100 % of the cap of $1.00 in all for this ",
    ]
    assert [text[:42] for text in await alerts(database, second)] == [
        "The soft cap of $0.70 in all for this inst",
        "80 % of the cap of $1.00 in all for this i",
    ]


async def test_of_marks_that_are_crossed_at_once_the_highest_is_told_and_none_comes_later(database: Database) -> None:
    made = await cap(database, "1")
    run = await make_run(database)
    await spend(database, run, "3")
    await spend(database, run, "1")
    (only,) = await alerts(database, run)
    assert only.startswith("100 % of the cap of $1.00 in all for this instance are reached: $3.00 are spent.")
    assert await marks(database, made, BEGINNING) == {50, 80, 100}


async def test_a_new_window_tells_its_marks_again(database: Database) -> None:
    made = await cap(database, "1", period=Period.DAY)
    run = await make_run(database)
    await spend(database, run, "2")

    async def put_back(transaction: Transaction) -> None:
        await transaction.execute(text("UPDATE ledger SET at = datetime(at, '-3 days')"))
        await transaction.execute(text("UPDATE cap_alerts SET window_start = datetime(window_start, '-3 days')"))
        await transaction.execute(text("UPDATE caps SET kept_since = datetime(kept_since, '-3 days')"))

    await database.writer.submit(put_back)
    await spend(database, run, "0.1")
    assert len(await alerts(database, run)) == 1
    await spend(database, run, "0.5")
    assert len(await alerts(database, run)) == 2
    midnight = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    assert await marks(database, made, midnight) == {50}


async def test_a_clock_that_is_set_back_tells_nothing_twice_and_frees_no_money(database: Database) -> None:
    await cap(database, "1")
    run = await make_run(database)
    await spend(database, run, "0.6")

    async def put_ahead(transaction: Transaction) -> None:
        await transaction.execute(text("UPDATE ledger SET at = datetime(at, '+1 hour')"))

    await database.writer.submit(put_ahead)
    await spend(database, run, "0.1")
    assert len(await alerts(database, run)) == 1
    await spend(database, run, "0.1")
    assert [text[:4] for text in await alerts(database, run)] == ["50 %", "80 %"]


async def test_an_alert_is_undone_with_the_charge_that_crossed_its_mark(database: Database) -> None:
    made = await cap(database, "1")
    run = await make_run(database)

    async def fail(transaction: Transaction) -> None:
        await write_event(transaction, run.session_id, run.id, Notice("x", "."), charges=costing("2"))
        raise PilothouseError("The transaction comes to nothing.")

    with suppress(PilothouseError):
        await database.writer.submit(fail)
    assert await alerts(database, run) == []
    assert await marks(database, made, BEGINNING) == frozenset()
    async with database.read() as transaction:
        assert await sum_spent(transaction, CapScope.INSTANCE, None) == 0
    await spend(database, run, "2")
    assert len(await alerts(database, run)) == 1


async def marks(database: Database, made: CapRecord, window_start: datetime) -> frozenset[int]:
    async with database.read() as transaction:
        return await list_marks(transaction, made.id, window_start)


async def test_the_feed_of_a_team_s_key_tells_of_the_instance_s_cap_only_that_it_is_used_up(database: Database) -> None:
    made = await cap(database, "1")
    run = await spending.make_run(database, await spending.make_payer(database))
    await spend(database, run, "0.9")
    assert await alerts(database, run) == [], "a percentage says what others have spent"
    await spend(database, run, "0.2")
    (only,) = await alerts(database, run)
    assert only.startswith("100 % of the cap of $1.00 in all for this instance are reached. It never begins anew")
    assert await marks(database, made, BEGINNING) == {50, 80, 100}
