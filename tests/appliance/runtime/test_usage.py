from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from sqlalchemy import update

from appliance.errors import RequestInvalid
from appliance.events import Charge, TokenCount
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.keys import add_key
from appliance.persistence.ledger import add_charges
from appliance.persistence.records import Payer, SessionRecord
from appliance.persistence.runs import add_run
from appliance.persistence.sessions import add_session
from appliance.persistence.tables import ledger
from appliance.persistence.teams import add_team, find_first_team
from appliance.persistence.users import add_user
from appliance.runtime.usage import Usage
from appliance.words import Purpose, SessionStatus, UsageGroup

STEP = Charge(Purpose.STEP, "claude-opus-4.7", TokenCount(1000, 200, 30, 4), Decimal("0.0000014"))
GOAL = Charge(Purpose.GOAL, "gpt-5.5", TokenCount(7), Decimal("0.02"), is_estimated=True)
CAPTCHA = Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("0.003"))
UNKNOWN = Charge(Purpose.STEP, "own", TokenCount(5), None)


async def first_team(database: Database) -> UUID:
    async with database.read() as transaction:
        return (await find_first_team(transaction)).id


async def spend(
    database: Database, payer: Payer | None, charges: Sequence[Charge], at: datetime | None = None, title: str = ""
) -> UUID:
    """Charge a new session's run, as if that had been then."""
    now = utc_now()
    session = SessionRecord(new_id(), SessionStatus.IDLE, "m", "bu-max", created_at=now, updated_at=now, title=title)

    async def write(transaction: Transaction) -> None:
        await add_session(transaction, session)
        run = await add_run(transaction, session.id, task="x", model="m", payer=payer)
        await add_charges(transaction, session.id, run.id, charges)
        if at is not None:
            await transaction.execute(update(ledger).where(ledger.c.session_id == session.id).values(at=at))

    await database.writer.submit(write)
    return session.id


async def test_every_grouping_adds_up_to_the_same_to_the_micro_dollar(database: Database) -> None:
    team = await first_team(database)
    user = await database.writer.submit(lambda tx: add_user(tx, "eva@example.com", "x"))
    key = await database.writer.submit(lambda tx: add_key(tx, "build", "bu_secret_key"))
    one = await spend(database, Payer(team, user.id, key.id), [STEP, STEP, GOAL], title="Lamps")
    two = await spend(database, Payer(team), [CAPTCHA, UNKNOWN])
    usage = Usage(database)
    reports = {group: await usage.read(group) for group in UsageGroup}
    for report in reports.values():
        assert sum(row.cost_usd for row in report.rows) == report.total.cost_usd == Decimal("0.023002")
        assert sum(row.calls for row in report.rows) == report.total.calls == 5
        assert sum((row.tokens for row in report.rows), TokenCount()) == report.total.tokens
        assert (report.total.services_usd, report.total.unpriced, report.total.estimated) == (Decimal("0.003"), 1, 1)
    told = {group: [(row.key, row.label) for row in report.rows] for group, report in reports.items()}
    assert told[UsageGroup.MODEL] == [(name, name) for name in ("gpt-5.5", "capsolver", "claude-opus-4.7", "own")]
    assert told[UsageGroup.MEMBER] == [(f"{user.id}", "eva@example.com"), ("", "")]
    assert told[UsageGroup.KEY] == [(f"{key.id}", "build"), ("", "")]
    assert told[UsageGroup.PURPOSE] == [(word, word) for word in ("goal", "captcha", "step")]
    assert told[UsageGroup.SESSION] == [(f"{one}", "Lamps"), (f"{two}", "")]
    assert len(told[UsageGroup.DAY]) == 30


async def test_days_begin_at_midnight_in_the_zone_of_the_team_also_where_clocks_are_changed(database: Database) -> None:
    team = (await database.writer.submit(lambda tx: add_team(tx, "Home", "Europe/Berlin"))).id
    # The 25th of October 2026 has 25 hours there: from 22:00 UTC on the day before to 23:00 UTC.
    moments = {
        datetime(2026, 10, 24, 21, 59, 59, 999999, UTC): "2026-10-24",
        datetime(2026, 10, 24, 22, 0, tzinfo=UTC): "2026-10-25",
        datetime(2026, 10, 25, 22, 59, 59, 999999, UTC): "2026-10-25",
        datetime(2026, 10, 25, 23, 0, tzinfo=UTC): "2026-10-26",
    }
    for moment in moments:
        await spend(database, Payer(team), [CAPTCHA], moment)
    report = await Usage(database).read(UsageGroup.DAY, date(2026, 10, 24), date(2026, 10, 26), team)
    assert [(row.key, row.calls) for row in report.rows] == [("2026-10-24", 1), ("2026-10-25", 2), ("2026-10-26", 1)]
    assert report.time_zone == "Europe/Berlin"
    day = date(2026, 10, 25)
    assert (await Usage(database).read(UsageGroup.MODEL, day, day, team)).total.calls == 2


async def test_a_team_sees_what_it_spent_and_no_more(database: Database) -> None:
    other = await database.writer.submit(lambda tx: add_team(tx, "Other"))
    await spend(database, Payer(await first_team(database)), [STEP])
    await spend(database, Payer(other.id), [CAPTCHA])
    usage = Usage(database)
    for group in UsageGroup:
        assert (await usage.read(group, team_id=other.id)).total.cost_usd == CAPTCHA.cost_usd
        assert sum(row.calls for row in (await usage.read(group, team_id=other.id)).rows) == 1
        assert (await usage.read(group)).total.calls == 2


async def test_without_days_the_thirty_up_to_today_are_meant(database: Database) -> None:
    report = await Usage(database).read()
    assert report.last - report.first == timedelta(days=29)
    assert abs((utc_now().date() - report.last).days) <= 1
    assert (report.total.calls, report.total.cost_usd) == (0, 0)
    assert (await Usage(database).read(first=date(2099, 1, 1))).last == date(2099, 1, 1)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (date(2026, 2, 2), date(2026, 2, 1)),
        (date(2020, 1, 1), date(2026, 1, 1)),
        (None, date.min),
        (date.max, None),
        (date.min, date(2, 1, 1)),
    ],
)
async def test_days_that_cannot_be_told_of_are_refused(database: Database, first: date | None, last: date) -> None:
    with pytest.raises(RequestInvalid) as refused:
        await Usage(database).read(UsageGroup.DAY, first, last)
    assert refused.value.location == ("query", "from")
