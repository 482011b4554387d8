import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from appliance.errors import CapReached, MoneySpent, RequestInvalid
from appliance.persistence.caps import raise_cap, remove_cap
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.prices import set_price
from appliance.persistence.records import Payer
from appliance.persistence.teams import find_first_team
from appliance.runtime.treasury import RunFund, Treasury, check_caps
from appliance.words import CapScope, Period
from tests.appliance.runtime.spending import DOLLAR_A_MILLION, house_model, make_payer, make_run, set_cap, spend

TENTH = Decimal("0.1")
NONE = Decimal(0)


async def put_price(database: Database) -> None:
    await database.writer.submit(lambda tx: set_price(tx, DOLLAR_A_MILLION))


async def open_fund(treasury: Treasury, database: Database, payer: Payer) -> RunFund:
    fund = treasury.open(await make_run(database, payer))
    assert fund is not None
    return fund


async def two_funds(database: Database) -> tuple[RunFund, RunFund]:
    """Return what two runs at work ask for money, whose team may spend a dollar in all."""
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    treasury = Treasury(database)
    return await open_fund(treasury, database, payer), await open_fund(treasury, database, payer)


async def is_waiting(asking: "asyncio.Task[str | None]") -> bool:
    """Whether the task still waits after everybody had their turn, some times over."""
    await asyncio.wait({asking}, timeout=0.3)
    return not asking.done()


async def test_nothing_is_begun_under_a_cap_that_is_used_up_until_it_is_raised_or_removed(database: Database) -> None:
    await put_price(database)
    payer = await make_payer(database)
    run = await make_run(database, payer)
    cap = await set_cap(database, CapScope.TEAM, payer.team_id, "1", period=Period.MONTH)
    await spend(database, run, "0.999999")
    await check_caps(database, payer, house_model())
    await spend(database, run, "0.000001")
    with pytest.raises(CapReached, match=r"The cap of \$1.00 a month for the team Harbour is used up") as refused:
        await check_caps(database, payer, house_model())
    assert (refused.value.reached.cap, refused.value.reached.spent) == (1, 1)
    with pytest.raises(MoneySpent, match="is used up"):
        await Treasury(database).admit(run)
    await database.writer.submit(lambda tx: raise_cap(tx, cap.id, TENTH, utc_now() + timedelta(hours=1)))
    await check_caps(database, payer, house_model())
    await Treasury(database).admit(run)
    await spend(database, run, "5")
    with pytest.raises(CapReached):
        await check_caps(database, payer, house_model())
    await database.writer.submit(lambda tx: remove_cap(tx, cap.id))
    await check_caps(database, payer, house_model())


async def test_the_narrowest_of_the_caps_that_are_used_up_is_named(database: Database) -> None:
    await put_price(database)
    payer, other = await make_payer(database), await make_payer(database, "Quay")
    await set_cap(database, CapScope.INSTANCE, None, "1")
    await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    await set_cap(database, CapScope.KEY, payer.key_id, "1")
    await spend(database, await make_run(database, payer), "1")
    with pytest.raises(CapReached, match="for the API key key of Harbour"):
        await check_caps(database, payer, house_model())
    with pytest.raises(CapReached, match="for the team Harbour"):
        await check_caps(database, Payer(payer.team_id), house_model())
    with pytest.raises(CapReached, match="for this instance"):
        await check_caps(database, other, house_model())


async def test_without_a_payer_the_first_team_pays(database: Database) -> None:
    await put_price(database)
    async with database.read() as transaction:
        first = (await find_first_team(transaction)).id
    await set_cap(database, CapScope.TEAM, first, "1")
    await spend(database, await make_run(database, Payer(first)), "1")
    with pytest.raises(CapReached):
        await check_caps(database, None, house_model())


async def test_a_model_without_a_price_is_refused_under_a_hard_cap_only(database: Database) -> None:
    payer = await make_payer(database)
    await check_caps(database, payer, house_model())
    cap = await set_cap(database, CapScope.TEAM, payer.team_id, None, soft="1")
    await check_caps(database, payer, house_model())
    await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    with pytest.raises(RequestInvalid, match="pilothouse price set house-model") as refused:
        await check_caps(database, payer, house_model())
    assert refused.value.location == ("body", "model")
    fund = await open_fund(Treasury(database), database, payer)
    assert "price of this model is not known" in str(await fund.reserve(None, NONE))
    await put_price(database)
    await check_caps(database, payer, house_model())
    await database.writer.submit(lambda tx: remove_cap(tx, cap.id))
    assert await fund.reserve(None, NONE) is None


async def test_without_a_hard_cap_every_step_gets_its_money(database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, None, soft="1")
    fund = await open_fund(Treasury(database), database, payer)
    assert await fund.reserve(Decimal(1_000_000), NONE) is None
    assert fund.step == 0
    assert Treasury(database).open(await make_run(database, None)) is None


async def test_a_step_waits_for_money_that_another_step_may_leave_over(database: Database) -> None:
    first, second = await two_funds(database)
    assert await first.reserve(Decimal("0.7"), NONE) is None
    asking = asyncio.create_task(second.reserve(Decimal("0.4"), NONE))
    assert await is_waiting(asking)
    assert await first.reserve(Decimal("0.1"), Decimal("0.3")) is None
    assert await asking is None
    assert (first.step, second.step) == (TENTH, Decimal("0.4"))


async def test_a_step_is_refused_at_once_when_it_would_not_fit_even_alone(database: Database) -> None:
    first, second = await two_funds(database)
    assert await first.reserve(Decimal("0.5"), NONE) is None
    refusal = await second.reserve(Decimal("1.2"), NONE)
    assert str(refusal).startswith("The cap of $1.00 in all for the team Harbour has no room for a step of about $1.20")
    assert second.step == 0


async def test_what_is_spent_but_not_in_the_ledger_yet_is_missing_from_the_room(database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    treasury = Treasury(database)
    run = await make_run(database, payer)
    first, second = treasury.open(run), await open_fund(treasury, database, payer)
    assert first is not None
    assert await second.reserve(TENTH, NONE) is None
    assert await second.reserve(NONE, NONE) is None
    assert await first.reserve(TENTH, NONE) is None
    assert await first.reserve(TENTH, Decimal("0.8")) is None
    assert await second.reserve(Decimal("0.3"), NONE) is not None
    await spend(database, run, "0.8")
    assert await second.reserve(Decimal("0.3"), NONE) is not None
    assert await second.reserve(TENTH, NONE) is None
    assert await first.reserve(Decimal("0.1"), Decimal("0.8")) is None
    treasury.close(run.id, Decimal("0.8"))
    assert await second.reserve(Decimal("0.2"), NONE) is None


async def test_the_first_step_of_a_model_whose_steps_nobody_knows_is_taken_alone(database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.INSTANCE, None, "1")
    treasury = Treasury(database)
    first, second, other = [await open_fund(treasury, database, payer) for _ in range(3)]
    assert await first.reserve(Decimal("0.01"), NONE) is None
    asking = asyncio.create_task(second.reserve(Decimal("0.01"), NONE))
    assert await is_waiting(asking)
    assert await first.reserve(Decimal("0.01"), Decimal("0.3")) is None
    assert await asking is None
    assert second.step == Decimal("0.3"), "as much as the other run's step did cost"
    assert await other.reserve(Decimal("0.01"), NONE) is None
    assert other.step == Decimal("0.3")


async def test_a_run_that_ends_or_is_given_up_lets_others_go_on(database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.KEY, payer.key_id, "1")
    treasury = Treasury(database)
    run = await make_run(database, payer)
    first, second = treasury.open(run), await open_fund(treasury, database, payer)
    assert first is not None
    assert await first.reserve(Decimal("0.9"), NONE) is None
    asking = asyncio.create_task(second.reserve(Decimal("0.5"), NONE))
    assert await is_waiting(asking)
    treasury.close(run.id)
    assert await asking is None
    treasury.close(run.id)


async def test_a_run_that_stands_still_holds_only_what_it_has_spent_and_asks_again_afterwards(
    database: Database,
) -> None:
    paused, second = await two_funds(database)
    assert await paused.reserve(Decimal("0.8"), NONE) is None
    asking = asyncio.create_task(second.reserve(Decimal("0.6"), NONE))
    assert await is_waiting(asking)
    paused.standing = lambda: Decimal("0.3")
    assert await asking is None
    assert await second.reserve(Decimal("0.71"), NONE) is not None, "what the paused run has spent counts"
    assert await second.reserve(Decimal("0.6"), NONE) is None
    paused.standing = lambda: None
    asking = asyncio.create_task(paused.reserve_again(Decimal("0.5"), Decimal("0.3")))
    assert await is_waiting(asking)
    assert await second.reserve(TENTH, NONE) is None
    assert await asking is None
    assert (paused.step, paused.owed({})) == (Decimal("0.5"), Decimal("0.3"))


async def test_what_a_step_costs_is_known_whole_though_it_was_paused_in_between(database: Database) -> None:
    paused, second = await two_funds(database)
    assert await paused.reserve(TENTH, NONE) is None
    assert await paused.reserve_again(TENTH, Decimal("0.2")) is None
    assert await paused.reserve(NONE, Decimal("0.3")) is None
    assert await second.reserve(Decimal("0.01"), NONE) is None
    assert second.step == Decimal("0.3")


async def test_runs_of_different_teams_do_not_wait_for_each_other(database: Database) -> None:
    payer, other = await make_payer(database), await make_payer(database, "Quay")
    for one in (payer, other):
        await set_cap(database, CapScope.TEAM, one.team_id, "1")
    treasury = Treasury(database)
    first, second = await open_fund(treasury, database, payer), await open_fund(treasury, database, other)
    assert await first.reserve(Decimal("0.9"), NONE) is None
    assert await second.reserve(Decimal("0.9"), NONE) is None


async def test_many_steps_that_are_asked_for_at_once_never_hold_more_than_there_is(database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    treasury = Treasury(database)
    teacher = await open_fund(treasury, database, payer)
    assert await teacher.reserve(TENTH, NONE) is None
    assert await teacher.reserve(NONE, NONE) is None
    runs = [await make_run(database, payer) for _ in range(8)]
    funds = [fund for run in runs if (fund := treasury.open(run)) is not None]
    asking = [asyncio.create_task(fund.reserve(Decimal("0.3"), NONE)) for fund in funds]
    while sum(task.done() for task in asking) < 3:
        await asyncio.wait([task for task in asking if not task.done()], return_when="FIRST_COMPLETED")
    await asyncio.wait([task for task in asking if not task.done()], timeout=0.3)
    assert sum(task.done() for task in asking) == 3
    assert sum(fund.step for fund in funds) == Decimal("0.9")
    while not all(task.done() for task in asking):
        for run, fund, task in zip(runs, funds, asking, strict=True):
            if task.done() and fund.step:
                await spend(database, run, "0.2")
                treasury.close(run.id, Decimal("0.2"))
        await asyncio.wait([task for task in asking if not task.done()] or asking, return_when="FIRST_COMPLETED")
    assert [task.result() is None for task in asking].count(True) == 4
    assert sum(fund.step for fund in funds) <= Decimal("0.4")
