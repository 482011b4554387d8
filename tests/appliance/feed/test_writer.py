import asyncio
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from appliance.errors import NotFound, RequestRefused
from appliance.events import ActionCall, ActionFinished, Charge, FeedEvent, Notice, StepPlanned, TokenCount
from appliance.feed.hub import Hub
from appliance.feed.writer import Feed
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.events import read_events, read_events_from
from appliance.persistence.ids import new_id
from appliance.persistence.ledger import list_charges
from appliance.persistence.records import EventPage, SessionRecord
from appliance.persistence.runs import add_run, list_runs
from appliance.persistence.sessions import add_session, delete_session, find_session
from appliance.persistence.steps import list_steps
from appliance.words import Purpose, ReceiptStatus, SessionStatus


async def start_session(database: Database) -> UUID:
    now = utc_now()
    session = SessionRecord(new_id(), SessionStatus.RUNNING, "m", "bu-max", now, now)
    await database.writer.submit(lambda tx: add_session(tx, session))
    return session.id


def notice(number: int) -> Notice:
    return Notice(code="n", text=str(number))


def texts(page: EventPage) -> list[str]:
    return [record.event.text for record in page.events if isinstance(record.event, Notice)]


async def test_every_feed_has_its_own_order_without_gaps_under_concurrency(database: Database) -> None:
    feed = Feed(database, Hub())
    sessions = [await start_session(database) for _ in range(4)]
    await asyncio.gather(*(feed.append(one, None, notice(number)) for number in range(50) for one in sessions))
    for session_id in sessions:
        async with database.read() as connection:
            page = await read_events(connection, session_id, limit=100)
        assert [record.sequence for record in page.events] == list(range(1, 51))
        ids = [record.id for record in page.events]
        assert ids == sorted(ids)
        assert sorted(texts(page), key=int) == [str(number) for number in range(50)]


async def test_a_reader_that_follows_the_rows_sees_each_event_once_even_when_every_signal_is_lost(
    database: Database,
) -> None:
    deaf_hub = Hub()
    feed, session_id = Feed(database, Hub()), await start_session(database)
    seen: list[str] = []

    async def follow() -> None:
        async with deaf_hub.watch(session_id) as watch:
            while len(seen) < 20:
                async with database.read() as connection:
                    page = await read_events_from(connection, session_id, len(seen) + 1)
                seen.extend(texts(page))
                await watch.wait(0.01)

    following = asyncio.create_task(follow())
    for number in range(20):
        await feed.append(session_id, None, notice(number))
    async with asyncio.timeout(10):
        await following
    assert seen == [str(number) for number in range(20)]


async def test_a_signalled_reader_finds_the_row_already_there(database: Database) -> None:
    hub = Hub()
    feed, session_id = Feed(database, hub), await start_session(database)
    async with hub.watch(session_id) as watch:
        appending = asyncio.create_task(feed.append(session_id, None, notice(1)))
        assert await watch.wait(10)
        async with database.read() as connection:
            assert texts(await read_events(connection, session_id)) == ["1"]
        record = await appending
    async with database.read() as connection:
        assert (await read_events(connection, session_id)).events == (record,)


async def test_a_step_brings_its_row_and_the_session_s_totals_along(database: Database) -> None:
    feed, session_id = Feed(database, Hub()), await start_session(database)
    run = await database.writer.submit(lambda tx: add_run(tx, session_id, task="t", model="m"))
    for number in (1, 2):
        event: FeedEvent = StepPlanned(
            step=number,
            see="s",
            plan="p",
            move=f"move {number}",
            calls=(ActionCall("c1", "click", {"index": 1}),),
            url="http://x.org/",
            title="X",
            tokens=TokenCount(100, 10, 1, 7),
            screenshot=f"{number}.jpg",
        )
        charges = [
            Charge(Purpose.COMPACTION, "m", TokenCount(40, 0, 0, 1), Decimal("0.003")),
            Charge(Purpose.STEP, "m", TokenCount(60, 10, 1, 6), Decimal("0.007")),
        ]
        await feed.append(session_id, run.id, event, charges=charges)
    receipt = ActionFinished(2, "c1", "extract", ReceiptStatus.OK, "Read.", 5, tokens=TokenCount(9, 0, 0, 1))
    spent = [
        Charge(Purpose.ACTION, "m", receipt.tokens, Decimal("0.004")),
        Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("0.001")),
    ]
    await feed.append(session_id, run.id, receipt, charges=spent)
    async with database.read() as connection:
        session = await find_session(connection, session_id)
        (run,) = await list_runs(connection, session_id)
        steps = await list_steps(connection, run.id)
        charged = [row.charge for row in await list_charges(connection, session_id)]
    assert session.step_count == run.step_count == 2
    assert session.tokens == run.tokens == TokenCount(209, 20, 2, 15)
    assert session.cost_usd == run.cost_usd == Decimal("0.025")
    assert session.services_usd == run.services_usd == Decimal("0.001")
    assert charged == [*charges, *charges, *spent]
    assert (session.last_step_summary, session.screenshot) == ("move 2", "2.jpg")
    assert [(step.number, step.tokens, step.cost_usd) for step in steps] == [
        (1, TokenCount(100, 10, 1, 7), Decimal("0.01")),
        (2, TokenCount(109, 10, 1, 8), Decimal("0.015")),
    ]


async def test_a_deleted_session_s_feed_takes_nothing_more(database: Database) -> None:
    feed, session_id = Feed(database, Hub()), await start_session(database)
    await database.writer.submit(lambda tx: delete_session(tx, session_id))
    with pytest.raises(NotFound):
        await feed.append(session_id, None, notice(1))
    async with database.read() as connection:
        assert texts(await read_events(connection, session_id)) == []


async def test_pages_go_from_the_newest_backwards_and_from_any_event_forwards(database: Database) -> None:
    feed, session_id = Feed(database, Hub()), await start_session(database)
    ids = [(await feed.append(session_id, None, notice(number))).id for number in range(6)]
    async with database.read() as connection:
        newest = await read_events(connection, session_id, limit=2)
        before = await read_events(connection, session_id, before=ids[4], limit=2)
        first = await read_events(connection, session_id, before=ids[1], limit=2)
        after = await read_events(connection, session_id, after=ids[1], limit=2)
        last = await read_events(connection, session_id, after=ids[3], limit=2)
        beyond = await read_events(connection, session_id, after=ids[5], limit=2)
        everything = await read_events(connection, session_id, limit=6)
    assert (texts(newest), newest.has_more) == (["4", "5"], True)
    assert (texts(before), before.has_more) == (["2", "3"], True)
    assert (texts(first), first.has_more) == (["0"], False)
    assert (texts(after), after.has_more) == (["2", "3"], True)
    assert (texts(last), last.has_more) == (["4", "5"], False)
    assert (texts(beyond), beyond.has_more) == ([], False)
    assert (len(texts(everything)), everything.has_more) == (6, False)


async def test_a_cursor_from_elsewhere_is_refused_by_name(database: Database) -> None:
    feed, session_id, other = Feed(database, Hub()), await start_session(database), await start_session(database)
    foreign = await feed.append(other, None, notice(1))
    async with database.read() as connection:
        with pytest.raises(RequestRefused, match="after names no message"):
            await read_events(connection, session_id, after=foreign.id)
        with pytest.raises(RequestRefused, match="before names no message"):
            await read_events(connection, session_id, before=uuid4())
        with pytest.raises(RequestRefused, match="not both"):
            await read_events(connection, other, after=foreign.id, before=foreign.id)
