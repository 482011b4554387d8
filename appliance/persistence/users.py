"""Reads and writes the people who may sign in."""

from typing import Any

from sqlalchemy import Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from appliance.errors import Conflict
from appliance.persistence.columns import utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.records import UserRecord
from appliance.persistence.tables import users
from appliance.persistence.teams import add_member, find_first_team
from appliance.persistence.transaction import Transaction
from appliance.words import Role


async def add_user(transaction: Transaction, email: str, password_hash: str) -> UserRecord:
    """Write a person, who owns the first team there is; raises Conflict when the e-mail address is taken."""
    user = UserRecord(new_id(), _normalise(email), password_hash, utc_now())
    try:
        await transaction.execute(
            insert(users).values(
                id=user.id, email=user.email, password_hash=user.password_hash, created_at=user.created_at
            )
        )
    except IntegrityError as error:
        raise Conflict("There is already a user with this e-mail address.") from error
    await add_member(transaction, (await find_first_team(transaction)).id, user.id, Role.OWNER)
    return user


async def find_user(transaction: Transaction, email: str) -> UserRecord | None:
    """Return the person with this e-mail address, in whatever case, or None."""
    row = (await transaction.execute(select(users).where(users.c.email == _normalise(email)))).first()
    return None if row is None else _to_record(row)


async def list_users(transaction: Transaction) -> tuple[UserRecord, ...]:
    """Return everybody, by e-mail address."""
    return tuple(_to_record(row) for row in await transaction.execute(select(users).order_by(users.c.email)))


async def count_users(transaction: Transaction) -> int:
    """Return how many people may sign in; 0 means that the appliance has not been set up."""
    return await transaction.scalar(select(func.count()).select_from(users)) or 0


def _normalise(email: str) -> str:
    return email.strip().lower()


def _to_record(row: Row[Any]) -> UserRecord:
    return UserRecord(row.id, row.email, row.password_hash, row.created_at)
