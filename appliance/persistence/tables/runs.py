"""One row per run: a task of a session, when it ran, how it ended and what it delivered."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, String, Table, Text, UniqueConstraint, Uuid

from appliance.persistence.columns import Json, MicroDollars, Moment, Word
from appliance.persistence.tables.base import metadata
from appliance.words import Ending, FailureKind, RunStatus

runs = Table(
    "runs",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("session_id", Uuid, ForeignKey("sessions.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("task", Text, nullable=False),
    Column("model", String(200), nullable=False),
    Column("status", Word(RunStatus), nullable=False, index=True),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("ending", Word(Ending)),
    Column("output", Json),
    Column("is_successful", Boolean),
    Column("failure", Word(FailureKind)),
    Column("failure_status_code", Integer),
    Column("replays", Json),
    Column("provenance", Json),
    Column("team_id", Uuid),
    Column("user_id", Uuid),
    Column("key_id", Uuid),
    Column("step_count", Integer, nullable=False, server_default="0"),
    Column("input_tokens", Integer, nullable=False, server_default="0"),
    Column("cache_read_tokens", Integer, nullable=False, server_default="0"),
    Column("cache_write_tokens", Integer, nullable=False, server_default="0"),
    Column("output_tokens", Integer, nullable=False, server_default="0"),
    Column("cost_usd", MicroDollars, nullable=False, server_default="0"),
    Column("services_usd", MicroDollars, nullable=False, server_default="0"),
    Column("paused_at", Moment),
    Column("paused_seconds", Float, nullable=False, server_default="0"),
    UniqueConstraint("session_id", "number"),
    Index("ix_runs_team_id_started_at", "team_id", "started_at"),
)
