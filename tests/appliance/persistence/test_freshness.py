import sqlite3
from pathlib import Path

import pytest

from appliance.errors import NotFound
from appliance.persistence.database import Database, Transaction
from appliance.persistence.users import add_user, count_users, find_user


class Counting:
    """Counts the users, and how often it was asked to."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reads = 0

    async def read(self, transaction: Transaction) -> int:
        self.reads += 1
        return await count_users(transaction)

    async def ask(self, key: str = "users") -> int:
        return await self._database.read_kept(key, self.read)


async def test_what_was_read_is_given_again_until_something_is_committed(database: Database) -> None:
    counting = Counting(database)
    assert [await counting.ask(), await counting.ask(), counting.reads] == [0, 0, 1]
    await database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h"))
    assert [await counting.ask(), await counting.ask(), counting.reads] == [1, 1, 2]
    assert [await counting.ask("other"), counting.reads] == [1, 3]


async def test_every_commit_is_seen_by_the_next_look(database: Database) -> None:
    counting = Counting(database)
    for number in range(50):
        assert await counting.ask() == number
        await database.writer.submit(lambda tx, number=number: add_user(tx, f"u{number}@x.org", "h"))


async def test_what_another_process_commits_is_seen_at_once(database: Database, tmp_path: Path) -> None:
    await database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h"))
    counting = Counting(database)
    assert await counting.ask() == 1
    other = sqlite3.connect(tmp_path / "pilothouse.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM users")
    assert await counting.ask() == 1
    other.execute("COMMIT")
    other.close()
    assert await counting.ask() == 0


async def test_a_value_that_was_overtaken_while_it_was_read_is_not_kept(database: Database) -> None:
    counting = Counting(database)

    async def read_slowly(transaction: Transaction) -> int:
        count = await counting.read(transaction)
        await database.writer.submit(lambda tx: add_user(tx, "meanwhile@x.org", "h"))
        assert await counting.ask("other") == 1
        return count

    assert await database.read_kept("users", read_slowly) == 0
    assert await counting.ask() == 1


async def test_what_is_not_there_is_looked_for_again(database: Database) -> None:
    async def find(transaction: Transaction) -> str:
        user = await find_user(transaction, "a@x.org")
        if user is None:
            raise NotFound("No such user")
        return user.email

    with pytest.raises(NotFound):
        await database.read_kept("a", find)
    await database.writer.submit(lambda tx: add_user(tx, "a@x.org", "h"))
    assert await database.read_kept("a", find) == "a@x.org"


async def test_what_many_keys_stand_for_does_not_fill_the_memory(database: Database) -> None:
    counting = Counting(database)
    for number in range(5_000):
        assert await counting.ask(str(number)) == 0
    assert [await counting.ask("0"), counting.reads] == [0, 5_001]
