"""One row per session: what was asked for, its state, the totals of its runs and the result of the latest."""

from sqlalchemy import Boolean, Column, Float, Integer, String, Table, Text, Uuid

from appliance.persistence.columns import ExactDecimal, Json, MicroDollars, Moment, Word
from appliance.persistence.tables.base import metadata
from appliance.words import Effort, FailureKind, Lifecycle, SessionStatus

sessions = Table(
    "sessions",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("status", Word(SessionStatus), nullable=False),
    Column("model", String(200), nullable=False),
    Column("wire_model", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("output", Json),
    Column("output_schema", Json),
    Column("effort", Word(Effort)),
    Column("thinking_level", String(16)),
    Column("keep_alive", Boolean, nullable=False),
    Column("max_cost_usd", ExactDecimal),
    Column("max_steps", Integer),
    Column("timeout", Float),
    Column("system_prompt_extension", Text, nullable=False),
    Column("screen_width", Integer),
    Column("screen_height", Integer),
    Column("allowed_domains", Json),
    Column("sensitive_data", Text),
    Column("step_count", Integer, nullable=False),
    Column("last_step_summary", Text),
    Column("is_successful", Boolean),
    Column("failure", Word(FailureKind)),
    Column("failure_status_code", Integer),
    Column("input_tokens", Integer, nullable=False),
    Column("cache_read_tokens", Integer, nullable=False),
    Column("cache_write_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cost_usd", MicroDollars, nullable=False),
    Column("services_usd", MicroDollars, nullable=False),
    Column("screenshot", String(255)),
    Column("warnings", Json),
    Column("created_at", Moment, nullable=False, index=True),
    Column("updated_at", Moment, nullable=False),
    Column("deleted_at", Moment),
    Column("team_id", Uuid),
    Column("workspace_id", Uuid),
    Column("profile_id", Uuid),
    Column("lifecycle", Word(Lifecycle)),
    Column("allowance_usd", ExactDecimal),
    Column("is_closed", Boolean, nullable=False, server_default="0"),
)
