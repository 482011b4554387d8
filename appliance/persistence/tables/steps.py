"""One row per step: which page, how long, how many tokens, what it cost."""

from sqlalchemy import Column, ForeignKey, Integer, String, Table, Text, Uuid

from appliance.persistence.columns import MicroDollars, Moment
from appliance.persistence.tables.base import metadata

steps = Table(
    "steps",
    metadata,
    Column("run_id", Uuid, ForeignKey("runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("created_at", Moment, nullable=False),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("screenshot", String(255)),
    Column("input_tokens", Integer, nullable=False),
    Column("cache_read_tokens", Integer, nullable=False),
    Column("cache_write_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cost_usd", MicroDollars),
    Column("observe_ms", Integer, nullable=False),
    Column("think_ms", Integer, nullable=False),
)
