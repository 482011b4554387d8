from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from appliance.errors import NotFound
from appliance.persistence import caps
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.keys import add_key
from appliance.persistence.records import CapRecord, Payer
from appliance.persistence.teams import add_team
from appliance.persistence.users import add_user
from appliance.words import CapScope, Period


async def set_cap(
    database: Database, scope: CapScope, subject: UUID | None, hard: str | None = "1", soft: str | None = None
) -> CapRecord:
    limits = (None if hard is None else Decimal(hard), None if soft is None else Decimal(soft))
    return await database.writer.submit(lambda tx: caps.set_cap(tx, scope, subject, Period.MONTH, limits))


async def make_payer(database: Database, name: str = "Harbour", zone: str = "Asia/Tokyo") -> Payer:
    async def write(transaction: Transaction) -> Payer:
        team = await add_team(transaction, name, zone)
        user = await add_user(transaction, f"{name}@example.com", "hash")
        key = await add_key(transaction, f"key of {name}", f"secret of {name}", team_id=team.id)
        return Payer(team.id, user.id, key.id)

    return await database.writer.submit(write)


async def bind(database: Database, payer: Payer) -> list[CapRecord]:
    async with database.read() as transaction:
        return list(await caps.list_caps_of(transaction, payer))


async def test_caps_of_key_member_team_and_instance_bind_who_pays(database: Database) -> None:
    payer, other = await make_payer(database), await make_payer(database, "Quay")
    key = await set_cap(database, CapScope.KEY, payer.key_id)
    member = await set_cap(database, CapScope.MEMBER, payer.user_id)
    team = await set_cap(database, CapScope.TEAM, payer.team_id)
    instance = await set_cap(database, CapScope.INSTANCE, None)
    await set_cap(database, CapScope.TEAM, other.team_id)
    assert await bind(database, payer) == [key, member, team, instance]
    assert await bind(database, Payer(payer.team_id)) == [team, instance]
    assert await bind(database, Payer(new_id())) == [instance]
    async with database.read() as transaction:
        assert await caps.list_caps_in(transaction, payer.team_id) == (key, team)
        assert len(await caps.list_caps(transaction)) == 5


async def test_a_cap_tells_what_its_subject_is_called_and_where_its_days_begin(database: Database) -> None:
    payer = await make_payer(database)
    team = await set_cap(database, CapScope.TEAM, payer.team_id)
    key = await set_cap(database, CapScope.KEY, payer.key_id)
    member = await set_cap(database, CapScope.MEMBER, payer.user_id)
    instance = await set_cap(database, CapScope.INSTANCE, None)
    assert (team.subject_name, team.time_zone) == ("Harbour", "Asia/Tokyo")
    assert (key.subject_name, key.time_zone) == ("key of Harbour", "Asia/Tokyo")
    assert member.subject_name == "harbour@example.com"
    assert (instance.subject_name, instance.time_zone, instance.subject_id) == ("", member.time_zone, None)


async def test_there_is_one_cap_for_each_subject_and_period_also_for_the_instance(database: Database) -> None:
    payer = await make_payer(database)
    for scope, subject in ((CapScope.TEAM, payer.team_id), (CapScope.INSTANCE, None)):
        first = await set_cap(database, scope, subject, "1")
        second = await set_cap(database, scope, subject, None, "3")
        assert (second.id, second.created_at) == (first.id, first.created_at)
        assert (second.hard_usd, second.soft_usd) == (None, Decimal(3))
    assert len(await bind(database, payer)) == 2


async def test_a_raise_stays_when_the_cap_is_changed_and_a_later_one_takes_its_place(database: Database) -> None:
    cap = await set_cap(database, CapScope.INSTANCE, None)
    until = utc_now() + timedelta(hours=2)
    await database.writer.submit(lambda tx: caps.raise_cap(tx, cap.id, Decimal(2), until))
    changed = await set_cap(database, CapScope.INSTANCE, None, "4")
    assert (changed.hard_usd, changed.raise_usd, changed.raise_until) == (Decimal(4), Decimal(2), until)
    await database.writer.submit(lambda tx: caps.raise_cap(tx, cap.id, Decimal(3), until))
    assert [one.raise_usd for one in await bind(database, Payer(new_id()))] == [Decimal(3)]


async def test_what_is_not_there_can_neither_be_capped_nor_raised_nor_removed(database: Database) -> None:
    for scope, called in ((CapScope.KEY, "API key"), (CapScope.MEMBER, "member"), (CapScope.TEAM, "team")):
        with pytest.raises(NotFound, match=f"There is no {called} with the id"):
            await set_cap(database, scope, new_id())
    with pytest.raises(NotFound):
        await database.writer.submit(lambda tx: caps.raise_cap(tx, new_id(), Decimal(1), utc_now()))
    with pytest.raises(NotFound):
        await database.writer.submit(lambda tx: caps.remove_cap(tx, new_id()))


async def test_a_cap_goes_away_with_what_it_has_told(database: Database) -> None:
    cap = await set_cap(database, CapScope.INSTANCE, None)
    start = utc_now()
    amounts = (Decimal("0.5"), Decimal(1))
    await database.writer.submit(lambda tx: caps.add_alert(tx, cap.id, start, 50, amounts))
    async with database.read() as transaction:
        assert await caps.list_marks(transaction, cap.id, start) == {50}
        assert await caps.list_marks(transaction, cap.id, start + timedelta(days=1)) == frozenset()
    await database.writer.submit(lambda tx: caps.remove_cap(tx, cap.id))
    assert await bind(database, Payer(new_id())) == []
