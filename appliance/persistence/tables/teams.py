"""One row per team: whose sessions, keys and caps belong together, and in which time zone its days begin."""

from sqlalchemy import Column, String, Table, Uuid

from appliance.persistence.columns import Moment
from appliance.persistence.tables.base import metadata

teams = Table(
    "teams",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("time_zone", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
)
