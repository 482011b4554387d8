"""A prepared statement gives and takes the same values as one that SQLAlchemy runs."""

from typing import Any

import pytest
from sqlalchemy import Insert, Update, bindparam, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from appliance.errors import DatabaseUnavailable
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.prepared import Prepared
from appliance.persistence.tables import users

NAMES = ("id", "email", "password_hash", "created_at")
NEW = Prepared(insert(users), *NAMES)
ALL = select(users.c.id, users.c.email, users.c.created_at).order_by(users.c.email)


def person(email: str) -> dict[str, Any]:
    return {"id": new_id(), "email": email, "password_hash": "h", "created_at": utc_now()}


async def run(database: Database, statement: Prepared | Insert | Update, values: dict[str, Any]) -> tuple[Any, ...]:
    async def write(transaction: Transaction) -> tuple[Any, ...]:
        result = await transaction.execute(statement, values)
        return (*result.rows, result.rowcount)

    return await database.writer.submit(write)


async def test_values_go_in_and_come_out_as_they_do_with_sqlalchemy(database: Database) -> None:
    first, second = person("a@x.org"), person("b@x.org")
    await run(database, NEW, first)
    await run(database, insert(users), second)
    async with database.read() as transaction:
        usual = (await transaction.execute(ALL)).rows
        rows = (await transaction.execute(Prepared(ALL))).rows
    assert [tuple(row) for row in rows] == [tuple(row) for row in usual]
    assert (rows[0].id, rows[0].email, rows[1].created_at) == (first["id"], "a@x.org", second["created_at"])


async def test_what_the_statement_brings_along_goes_with_what_is_given(database: Database) -> None:
    own = person("a@x.org")
    await run(database, NEW, own)
    renamed = (
        update(users)
        .where(users.c.id == bindparam("wanted"), users.c.created_at == own["created_at"])
        .values(password_hash="new")
        .returning(users.c.password_hash, users.c.id)
    )
    change = Prepared(renamed, "email")
    (row, _) = await run(database, change, {"wanted": own["id"], "email": "b@x.org", "nobody asks": 1})
    assert (row.password_hash, row.id) == ("new", own["id"])
    assert await run(database, change, {"wanted": new_id(), "email": "c@x.org"}) == (0,)
    with pytest.raises(KeyError):
        await run(database, change, {"email": "c@x.org"})


async def test_rows_that_are_changed_are_counted(database: Database) -> None:
    for email in ("a@x.org", "b@x.org"):
        await run(database, NEW, person(email))
    assert await run(database, Prepared(update(users), "password_hash"), {"password_hash": "new"}) == (2,)


async def test_the_driver_s_errors_are_raised_as_sqlalchemy_does_and_without_values(database: Database) -> None:
    await run(database, NEW, person("a@x.org"))
    with pytest.raises(IntegrityError) as refused:
        await run(database, NEW, {**person("a@x.org"), "password_hash": "a secret"})
    assert "UNIQUE" in str(refused.value)
    assert "a secret" not in str(refused.value)
    await database.writer.submit(lambda tx: tx.execute(text("DROP TABLE members")))
    await database.writer.submit(lambda tx: tx.execute(text("ALTER TABLE users RENAME TO gone")))
    with pytest.raises(DatabaseUnavailable):
        await run(database, NEW, person("c@x.org"))
