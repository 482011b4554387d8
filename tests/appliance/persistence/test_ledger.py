from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from sqlalchemy import text

from appliance.errors import NotFound
from appliance.events import Charge, TokenCount, cost_of
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.ids import new_id
from appliance.persistence.ledger import add_charges, list_charges, sum_spent
from appliance.persistence.records import Payer, RunRecord
from appliance.persistence.runs import find_run
from appliance.words import CapScope, Purpose
from tests.appliance.runtime.spending import make_run

STEP = Charge(Purpose.STEP, "m", TokenCount(1000, 200, 30, 4), Decimal("0.0100004"), price_version="list 1")
CAPTCHA = Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("0.003"))


async def charge(database: Database, run: RunRecord, *charges: Charge) -> None:
    await database.writer.submit(lambda tx: add_charges(tx, run.session_id, run.id, charges))


def test_a_charge_is_rounded_to_whole_micro_dollars_where_it_is_made() -> None:
    assert Charge(Purpose.STEP, "m", cost_usd=Decimal("0.0000005")).cost_usd == Decimal("0.000001")
    assert Charge(Purpose.STEP, "m", cost_usd=Decimal("0.00000049")).cost_usd == 0
    assert Charge(Purpose.CAPTCHA, "c", cost_usd=Decimal("-0.0000005")).cost_usd == Decimal("-0.000001")
    assert Charge(Purpose.STEP, "m", cost_usd=None).cost_usd is None


async def test_charges_come_back_as_they_were_written_with_who_pays(database: Database) -> None:
    payer = Payer(new_id(), new_id(), new_id())
    run = await make_run(database, payer)
    before = utc_now()
    unknown = Charge(Purpose.GOAL, "m", TokenCount(5), None, is_estimated=True)
    await charge(database, run, STEP, CAPTCHA, unknown)
    async with database.read() as transaction:
        rows = await list_charges(transaction, run.session_id)
    assert [row.charge for row in rows] == [STEP, CAPTCHA, unknown]
    assert {(row.run_id, row.team_id, row.user_id, row.key_id) for row in rows} == {
        (run.id, payer.team_id, payer.user_id, payer.key_id)
    }
    assert before <= rows[0].at <= utc_now()


async def test_a_run_has_the_sum_of_its_charges(database: Database) -> None:
    run = await make_run(database)
    await charge(database, run, STEP, CAPTCHA)
    await charge(database, run, STEP, Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("-0.001")))
    await charge(database, run)
    async with database.read() as transaction:
        found = await find_run(transaction, run.id)
        spent = cost_of(row.charge for row in await list_charges(transaction, run.session_id))
    assert found.tokens == TokenCount(2000, 400, 60, 8)
    assert found.cost_usd == spent == Decimal("0.022")
    assert found.services_usd == Decimal("0.002")


async def test_what_is_spent_is_counted_for_key_member_team_and_instance(database: Database) -> None:
    team, member, key = new_id(), new_id(), new_id()
    for payer in (Payer(team, member, key), Payer(team, member), Payer(team), Payer(new_id()), None):
        await charge(database, await make_run(database, payer), CAPTCHA)

    async def spent(scope: CapScope, subject: UUID | None) -> Decimal:
        async with database.read() as transaction:
            return await sum_spent(transaction, scope, subject)

    assert await spent(CapScope.KEY, key) == Decimal("0.003")
    assert await spent(CapScope.MEMBER, member) == Decimal("0.006")
    assert await spent(CapScope.TEAM, team) == Decimal("0.009")
    assert await spent(CapScope.INSTANCE, None) == Decimal("0.015")
    assert await spent(CapScope.TEAM, new_id()) == 0


async def test_a_window_has_its_first_moment_and_not_its_last(database: Database) -> None:
    run = await make_run(database, Payer(team := new_id()))
    await charge(database, run, CAPTCHA)
    async with database.read() as transaction:
        at = (await list_charges(transaction, run.session_id))[0].at
        moment = timedelta(microseconds=1)
        cases = [(at, None), (at, at + moment), (None, at + moment), (None, None)]
        assert [await sum_spent(transaction, CapScope.TEAM, team, *case) for case in cases] == [Decimal("0.003")] * 4
        for since, until in ((at + moment, None), (None, at), (at, at)):
            assert await sum_spent(transaction, CapScope.TEAM, team, since, until) == 0


@pytest.mark.parametrize("scope", list(CapScope))
async def test_a_window_is_summed_up_from_its_index_alone(database: Database, scope: CapScope) -> None:
    name = {CapScope.KEY: "key_id_", CapScope.MEMBER: "user_id_", CapScope.TEAM: "team_id_"}.get(scope, "")
    where = "" if scope is CapScope.INSTANCE else f"{name.rstrip('_')} = 'x' AND "
    query = f"EXPLAIN QUERY PLAN SELECT sum(cost_usd) FROM ledger WHERE {where} at >= '2026' AND at < '2027'"
    async with database.read() as transaction:
        plan = " ".join(row.detail for row in await transaction.execute(text(query)))
    assert f"COVERING INDEX ix_ledger_{name}at_cost_usd" in plan


async def test_what_an_unknown_price_cost_is_in_no_sum(database: Database) -> None:
    run = await make_run(database, Payer(team := new_id()))
    await charge(database, run, Charge(Purpose.STEP, "own", TokenCount(9), None))
    async with database.read() as transaction:
        assert await sum_spent(transaction, CapScope.TEAM, team, datetime(2020, 1, 1, tzinfo=UTC)) == 0
        assert (await find_run(transaction, run.id)).tokens == TokenCount(9)


async def test_a_run_that_is_not_there_is_charged_nothing(database: Database) -> None:
    run = await make_run(database)
    with pytest.raises(NotFound):
        await database.writer.submit(lambda tx: add_charges(tx, run.session_id, new_id(), [CAPTCHA]))
    async with database.read() as transaction:
        assert await list_charges(transaction, run.session_id) == ()
