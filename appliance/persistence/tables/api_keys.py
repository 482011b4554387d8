"""One row per API key: its SHA-256 and the few characters it is recognised by, never the key."""

from sqlalchemy import Column, String, Table, Uuid

from appliance.persistence.columns import Moment
from appliance.persistence.tables.base import metadata

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("prefix", String(16), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("team_id", Uuid),
    Column("user_id", Uuid),
)
