"""What is kept of a cap is what the ledger has for it, whatever was charged, capped and measured in which order."""

import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from sqlalchemy import func, insert, select, update

from appliance.errors import PilothouseError
from appliance.events import Charge
from appliance.feed.alerts import tell_alerts
from appliance.money.measuring import keep, measure
from appliance.money.windows import BEGINNING
from appliance.persistence.caps import list_caps, list_caps_of, remove_cap, set_cap
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.keys import add_key
from appliance.persistence.ledger import add_charges, sum_spent
from appliance.persistence.records import Payer, RunRecord, SessionRecord
from appliance.persistence.runs import add_run
from appliance.persistence.sessions import add_session
from appliance.persistence.tables import ledger, teams
from appliance.persistence.teams import find_first_team
from appliance.persistence.users import add_user
from appliance.words import CapScope, Period, Purpose, SessionStatus
from web.auth import new_key

ZONES = ("UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu")


async def make_payers(transaction: Transaction) -> list[Payer | None]:
    """Write a member and two keys of the first team and return who may pay: they, the team, another one, nobody."""
    team = (await find_first_team(transaction)).id
    other = new_id()
    row = {"id": other, "name": "Other", "time_zone": "UTC", "created_at": utc_now()}
    await transaction.execute(insert(teams).values(row))
    member = (await add_user(transaction, "a@x.org", "h")).id
    keys = [(await add_key(transaction, name, new_key())).id for name in ("one", "two")]
    return [Payer(team, member, keys[0]), Payer(team, member, keys[1]), Payer(team), Payer(other), None]


async def make_run(transaction: Transaction, payer: Payer | None) -> RunRecord:
    now = utc_now()
    session = SessionRecord(new_id(), SessionStatus.RUNNING, "m", "bu-max", created_at=now, updated_at=now)
    await add_session(transaction, session)
    return await add_run(transaction, session.id, task="x", model="m", payer=payer)


def subjects(payers: list[Payer | None]) -> list[tuple[CapScope, UUID | None]]:
    found: set[tuple[CapScope, UUID | None]] = {(CapScope.INSTANCE, None)}
    for payer in payers:
        if payer is not None:
            pairs = (CapScope.KEY, payer.key_id), (CapScope.MEMBER, payer.user_id), (CapScope.TEAM, payer.team_id)
            found.update((scope, subject) for scope, subject in pairs if subject is not None)
    return sorted(found, key=str)


async def differences(database: Database, now: datetime) -> list[str]:
    """Return the caps for which something else is kept or measured than what the ledger has."""
    async with database.read() as transaction:
        caps = await list_caps(transaction)
        found = [(cap, cap.kept_since, cap.kept_usd) for cap in caps if cap.kept_usd is not None]
        found += [(gauge.cap, gauge.window.start, gauge.spent) for gauge in await measure(transaction, caps, now)]
        return [
            f"{cap.scope} {cap.period} since {since}: {spent} of {summed}"
            for cap, since, spent in found
            for summed in [await sum_spent(transaction, cap.scope, cap.subject_id, since)]
            if spent != summed
        ]


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_the_kept_sums_are_those_of_the_ledger(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    payers = await database.writer.submit(make_payers)
    charged = [await database.writer.submit(lambda tx, payer=payer: make_run(tx, payer)) for payer in payers]

    async def spend(transaction: Transaction) -> None:
        run = chance.choice(charged)
        costs = [Decimal(chance.randrange(-5, 900_000)) / 1_000_000 for _ in range(chance.randrange(1, 4))]
        charges = [Charge(Purpose.STEP, "m", cost_usd=chance.choice((cost, cost, None))) for cost in costs]
        payer = await add_charges(transaction, run.session_id, run.id, charges)
        if payer is not None and chance.random() < 0.8:
            await tell_alerts(transaction, run.session_id, run.id, payer)
        if chance.random() < 0.15:
            raise PilothouseError("The transaction comes to nothing.")

    async def cap(transaction: Transaction) -> None:
        scope, subject = chance.choice(subjects(payers))
        await set_cap(transaction, scope, subject, chance.choice(list(Period)), (Decimal(chance.randrange(1, 9)), None))

    async def uncap(transaction: Transaction) -> None:
        if made := await list_caps(transaction):
            await remove_cap(transaction, chance.choice(made).id)

    async def move(transaction: Transaction) -> None:
        await transaction.execute(update(teams).values(time_zone=chance.choice(ZONES)))

    async def look_at_another_time(transaction: Transaction) -> None:
        # As after the clock was set ahead or back: what is kept then begins in the future or in the past.
        now = utc_now() + timedelta(hours=chance.randrange(-2000, 2000))
        payer = chance.choice([payer for payer in payers if payer is not None])
        await keep(transaction, await measure(transaction, await list_caps_of(transaction, payer), now))

    for _ in range(70):
        happens = chance.choices((spend, cap, uncap, move, look_at_another_time), (12, 6, 1, 2, 3))[0]
        with suppress(PilothouseError):
            await database.writer.submit(happens)
        assert await differences(database, utc_now()) == []
        assert await differences(database, utc_now() + timedelta(hours=chance.randrange(-900, 900))) == []


async def test_a_charge_is_added_to_what_is_kept_without_a_look_at_the_ledger(database: Database) -> None:
    payers = await database.writer.submit(make_payers)
    run = await database.writer.submit(lambda tx: make_run(tx, payers[0]))
    for scope, subject in subjects(payers[:1]):
        await database.writer.submit(
            lambda tx, scope=scope, subject=subject: set_cap(tx, scope, subject, Period.LIFETIME, (Decimal(9), None))
        )

    async def spend(transaction: Transaction) -> None:
        charges = [Charge(Purpose.STEP, "m", cost_usd=Decimal("0.25"))]
        payer = await add_charges(transaction, run.session_id, run.id, charges)
        assert payer is not None
        await tell_alerts(transaction, run.session_id, run.id, payer)

    await database.writer.submit(spend)
    # An entry that nobody charged shows whether anybody adds up the ledger.
    await database.writer.submit(
        lambda tx: tx.execute(
            insert(ledger).from_select(
                [column.name for column in ledger.c if column.name != "number"],
                select(*(column for column in ledger.c if column.name != "number")),
            )
        )
    )
    await database.writer.submit(spend)
    async with database.read() as transaction:
        assert await transaction.scalar(select(func.sum(ledger.c.cost_usd))) == Decimal("0.75")
        gauges = await measure(transaction, await list_caps(transaction), utc_now())
        assert [gauge.spent for gauge in gauges] == [Decimal("0.5")] * 4


async def test_what_is_kept_begins_with_the_window(database: Database) -> None:
    payers = await database.writer.submit(make_payers)
    run = await database.writer.submit(lambda tx: make_run(tx, payers[0]))
    for period in Period:
        await database.writer.submit(
            lambda tx, period=period: set_cap(tx, CapScope.INSTANCE, None, period, (None, Decimal(9)))
        )

    async def spend(transaction: Transaction) -> None:
        await add_charges(transaction, run.session_id, run.id, [Charge(Purpose.STEP, "m", cost_usd=Decimal("0.25"))])
        caps = await list_caps(transaction)
        await keep(transaction, await measure(transaction, caps, datetime(2026, 7, 15, 12, tzinfo=UTC)))

    await database.writer.submit(spend)
    async with database.read() as transaction:
        since = {cap.period: cap.kept_since for cap in await list_caps(transaction)}
    assert since == {
        Period.DAY: datetime(2026, 7, 15, tzinfo=UTC),
        Period.WEEK: datetime(2026, 7, 13, tzinfo=UTC),
        Period.MONTH: datetime(2026, 7, 1, tzinfo=UTC),
        Period.LIFETIME: BEGINNING,
    }
