import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from appliance.errors import Conflict, DatabaseUnavailable, SettingsInvalid
from appliance.persistence.database import Database, Transaction, make_engine
from appliance.persistence.users import add_user, count_users, find_user


async def test_it_writes_ahead_of_a_log_and_flushes_fully(database: Database) -> None:
    async with database.read() as connection:
        assert await connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert await connection.scalar(text("PRAGMA synchronous")) == 2
        assert await connection.scalar(text("PRAGMA foreign_keys")) == 1


async def test_concurrent_submits_are_all_committed_and_get_their_own_results(database: Database) -> None:
    async def add(number: int) -> str:
        user = await database.writer.submit(lambda tx: add_user(tx, f"u{number}@x.org", "h"))
        return user.email

    emails = await asyncio.gather(*(add(number) for number in range(300)))
    assert emails == [f"u{number}@x.org" for number in range(300)]
    async with database.read() as connection:
        assert await count_users(connection) == 300


async def test_a_failing_submit_loses_its_own_changes_and_nobody_elses(database: Database) -> None:
    async def write_then_fail(tx: Transaction) -> None:
        await add_user(tx, "lost@x.org", "h")
        raise ValueError("no")

    async def break_the_database_s_rules(tx: Transaction) -> None:
        await tx.execute(text("INSERT INTO users (id, email, password_hash, created_at) VALUES (1, NULL, 'h', 'now')"))

    results: list[Any] = await asyncio.gather(
        database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h")),
        database.writer.submit(write_then_fail),
        database.writer.submit(break_the_database_s_rules),
        database.writer.submit(lambda tx: add_user(tx, "A@x.org", "h")),
        database.writer.submit(lambda tx: add_user(tx, "b@x.org", "h")),
        return_exceptions=True,
    )
    assert [type(result).__name__ for result in results] == [
        "UserRecord",
        "ValueError",
        "IntegrityError",
        "Conflict",
        "UserRecord",
    ]
    async with database.read() as connection:
        assert await count_users(connection) == 2
        assert await find_user(connection, "lost@x.org") is None


async def test_a_result_is_given_only_after_the_commit(database: Database, tmp_path: Path) -> None:
    await database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h"))
    with sqlite3.connect(tmp_path / "pilothouse.db") as other_process:
        assert other_process.execute("SELECT email FROM users").fetchall() == [("a@x.org",)]
    other_process.close()


async def test_a_cancelled_caller_does_not_stop_the_writer(database: Database) -> None:
    waiting = asyncio.create_task(database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h")))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await database.writer.submit(lambda tx: add_user(tx, "b@x.org", "h"))
    async with database.read() as connection:
        assert await find_user(connection, "b@x.org") is not None


async def test_work_that_waits_for_anything_but_its_transaction_is_told_so_instead_of_hanging(
    database: Database,
) -> None:
    async def submit_again(_tx: Transaction) -> None:
        await database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h"))

    async def wait_for_others(tx: Transaction) -> None:
        await add_user(tx, "b@x.org", "h")
        await asyncio.sleep(0)

    for work in (submit_again, wait_for_others):
        with pytest.raises(RuntimeError):
            await database.writer.submit(work)
    async with database.read() as connection:
        assert await count_users(connection) == 0


async def test_when_the_transaction_is_lost_all_who_wait_for_it_are_told_and_the_next_is_written(
    database: Database,
) -> None:
    async def lose(tx: Transaction) -> None:
        await tx.execute(text("ROLLBACK"))

    results: tuple[Any, ...] = await asyncio.gather(
        database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h")),
        database.writer.submit(lose),
        database.writer.submit(lambda tx: add_user(tx, "b@x.org", "h")),
        return_exceptions=True,
    )
    assert [type(result).__name__ for result in results] == ["DatabaseUnavailable"] * 3
    await database.writer.submit(lambda tx: add_user(tx, "c@x.org", "h"))
    async with database.read() as connection:
        assert await count_users(connection) == 1


async def test_closing_writes_what_is_queued_and_then_refuses(database: Database, tmp_path: Path) -> None:
    waiting = [
        asyncio.create_task(database.writer.submit(lambda tx, n=n: add_user(tx, f"{n}@x.org", "h"))) for n in range(5)
    ]
    await asyncio.sleep(0)
    await database.close()
    assert len(await asyncio.gather(*waiting)) == 5
    with pytest.raises(RuntimeError, match="not open"):
        await database.writer.submit(lambda tx: add_user(tx, "late@x.org", "h"))


async def test_readers_are_not_held_up_by_a_long_write(database: Database) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def write_slowly(tx: Transaction) -> None:
        await add_user(tx, "slow@x.org", "h")
        begun.set()
        go_on.wait(20)

    writing = asyncio.create_task(database.writer.submit(write_slowly))
    await asyncio.to_thread(begun.wait, 20)
    async with database.read() as connection:
        assert await count_users(connection) == 0
    go_on.set()
    await writing
    async with database.read() as connection:
        assert await count_users(connection) == 1


async def test_a_reader_sees_one_state_however_long_it_reads(database: Database) -> None:
    async with database.read() as connection:
        assert await count_users(connection) == 0
        await database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h"))
        assert await count_users(connection) == 0
    async with database.read() as connection:
        assert await count_users(connection) == 1


async def test_cancelled_readers_leave_their_connections_usable(database: Database) -> None:
    async def read() -> None:
        async with database.read() as connection:
            for _ in range(50):
                await count_users(connection)

    for round_number in range(20):
        reading = [asyncio.create_task(read()) for _ in range(6)]
        for _ in range(round_number):
            await asyncio.sleep(0)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    async with asyncio.timeout(10):
        await asyncio.gather(*(read() for _ in range(12)))


async def test_an_address_is_one_user_in_whatever_case(database: Database) -> None:
    await database.writer.submit(lambda tx: add_user(tx, " Ada@X.org ", "h"))
    with pytest.raises(Conflict):
        await database.writer.submit(lambda tx: add_user(tx, "ada@x.ORG", "h"))
    async with database.read() as connection:
        user = await find_user(connection, "ADA@x.org")
    assert user is not None
    assert user.email == "ada@x.org"


async def test_rows_that_point_nowhere_are_refused(database: Database) -> None:
    async def write(tx: Transaction) -> None:
        await tx.execute(
            text("INSERT INTO events (session_id, sequence, id, created_at, body) VALUES ('a', 1, 'b', 'c', 'd')")
        )

    with pytest.raises(IntegrityError):
        await database.writer.submit(write)


async def test_a_database_out_of_order_is_told_in_one_sentence_and_recovers(database: Database, tmp_path: Path) -> None:
    blocker = sqlite3.connect(tmp_path / "pilothouse.db", isolation_level=None)
    async with database.read() as connection:
        await connection.execute(text("SELECT 1"))
    await database.writer.submit(_limit_size)
    with pytest.raises(DatabaseUnavailable, match="disk is full"):
        await database.writer.submit(lambda tx: add_user(tx, "big@x.org", "h" * 2_000_000))
    blocker.execute("DROP TABLE users")
    blocker.close()
    with pytest.raises(DatabaseUnavailable, match="no such table"):
        async with database.read() as connection:
            await count_users(connection)
    assert await database.answers()
    await database.writer.submit(lambda tx: tx.execute(text("DROP TABLE alembic_version")))
    assert not await database.answers()


@pytest.mark.parametrize("url", ["postgresql://db/pilothouse", "not an address"])
def test_an_address_that_cannot_be_used_is_refused_naming_the_setting(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="DATABASE_URL"):
        make_engine(url)


async def test_values_of_a_failed_statement_are_not_told(database: Database) -> None:
    with pytest.raises(IntegrityError) as failure:
        await database.writer.submit(
            lambda tx: tx.execute(
                text("INSERT INTO users (id, password_hash) VALUES (1, :secret)").bindparams(secret="$argon2")
            )
        )
    assert "$argon2" not in str(failure.value)


async def _limit_size(tx: Transaction) -> None:
    pages = await tx.scalar(text("PRAGMA page_count"))
    await tx.execute(text(f"PRAGMA max_page_count = {pages + 10}"))
