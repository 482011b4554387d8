"""One row per process group that is ours to end, so that a start can reap what a crash left behind."""

from sqlalchemy import BigInteger, Column, Integer, String, Table, Uuid

from appliance.persistence.columns import Moment
from appliance.persistence.tables.base import metadata

processes = Table(
    "processes",
    metadata,
    Column("pgid", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(32), nullable=False),
    Column("start_ticks", BigInteger, nullable=False),
    Column("session_id", Uuid),
    Column("created_at", Moment, nullable=False),
)
