"""Reads and writes API keys; only a key's hash is kept."""

from hashlib import sha256
from typing import Any
from uuid import UUID

from sqlalchemy import Row, bindparam, insert, select, update

from appliance.errors import NotFound
from appliance.persistence.columns import utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.records import KeyRecord
from appliance.persistence.tables import api_keys
from appliance.persistence.teams import find_first_team
from appliance.persistence.transaction import Transaction

_PREFIX_LENGTH = 8


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key in hex; keys are long random strings, so a slow hash would add nothing."""
    return sha256(key.encode()).hexdigest()


async def add_key(
    transaction: Transaction, name: str, key: str, *, team_id: UUID | None = None, user_id: UUID | None = None
) -> KeyRecord:
    """Write the hash of a new key under a name people know it by; without a team it belongs to the first there is."""
    team_id = team_id or (await find_first_team(transaction)).id
    record = KeyRecord(new_id(), name, key[:_PREFIX_LENGTH], hash_key(key), utc_now(), None, team_id, user_id)
    await transaction.execute(
        insert(api_keys).values(
            id=record.id,
            name=name,
            prefix=record.prefix,
            hash=record.hash,
            created_at=record.created_at,
            team_id=team_id,
            user_id=user_id,
        )
    )
    return record


_USABLE = select(api_keys).where(api_keys.c.hash == bindparam("wanted"), api_keys.c.revoked_at.is_(None))


async def find_key(transaction: Transaction, key_hash: str) -> KeyRecord | None:
    """Return the key with this hash (see `hash_key`) unless it was revoked, or None."""
    row = (await transaction.execute(_USABLE, {"wanted": key_hash})).first()
    return None if row is None else _to_record(row)


async def list_keys(transaction: Transaction) -> tuple[KeyRecord, ...]:
    """Return all keys, newest first, the revoked ones too."""
    newest_first = select(api_keys).order_by(api_keys.c.id.desc())
    return tuple(_to_record(row) for row in await transaction.execute(newest_first))


async def revoke_key(transaction: Transaction, key_id: UUID) -> None:
    """Make the key useless; raises NotFound when there is none that is still usable."""
    usable = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
    result = await transaction.execute(usable.values(revoked_at=utc_now()))
    if result.rowcount == 0:
        raise NotFound("API key not found")


def _to_record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(row.id, row.name, row.prefix, row.hash, row.created_at, row.revoked_at, row.team_id, row.user_id)
