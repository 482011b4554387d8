"""One row per thing that was paid for, never changed: what a session, a member or a team has spent is their sum."""

from sqlalchemy import Boolean, Column, Index, Integer, String, Table, Uuid

from appliance.persistence.columns import MicroDollars, Moment, Word
from appliance.persistence.tables.base import metadata
from appliance.words import Purpose

ledger = Table(
    "ledger",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("team_id", Uuid),
    Column("user_id", Uuid),
    Column("key_id", Uuid),
    Column("session_id", Uuid, nullable=False),
    Column("run_id", Uuid),
    Column("purpose", Word(Purpose), nullable=False),
    Column("model", String(200), nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("cache_read_tokens", Integer, nullable=False),
    Column("cache_write_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cost_usd", MicroDollars),
    Column("is_estimated", Boolean, nullable=False),
    Column("price_version", String(64), nullable=False),
    # Sums over a window are read from these alone.
    Index("ix_ledger_team_id_at_cost_usd", "team_id", "at", "cost_usd"),
    Index("ix_ledger_user_id_at_cost_usd", "user_id", "at", "cost_usd"),
    Index("ix_ledger_key_id_at_cost_usd", "key_id", "at", "cost_usd"),
    Index("ix_ledger_at_cost_usd", "at", "cost_usd"),
    Index("ix_ledger_session_id", "session_id"),
)
