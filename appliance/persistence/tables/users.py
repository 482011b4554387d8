"""One row per person who may sign in."""

from sqlalchemy import Column, String, Table, Uuid

from appliance.persistence.columns import Moment
from appliance.persistence.tables.base import metadata

users = Table(
    "users",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("email", String(320), nullable=False, unique=True),
    Column("password_hash", String(255), nullable=False),
    Column("created_at", Moment, nullable=False),
)
