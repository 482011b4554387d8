"""One row per feed entry, numbered without gaps within its session."""

from sqlalchemy import Column, ForeignKey, Integer, Table, Text, Uuid

from appliance.persistence.columns import Moment
from appliance.persistence.tables.base import metadata

events = Table(
    "events",
    metadata,
    Column("session_id", Uuid, ForeignKey("sessions.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("id", Uuid, nullable=False, unique=True),
    Column("run_id", Uuid, ForeignKey("runs.id")),
    Column("created_at", Moment, nullable=False),
    Column("body", Text, nullable=False),
)
