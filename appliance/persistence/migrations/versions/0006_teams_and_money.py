"""Teams and their members, the ledger of what was spent, caps with their alerts, prices set by the operator."""

from datetime import UTC, datetime
from uuid import uuid4

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_COUNTS = ("step_count", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


def upgrade() -> None:
    _make_teams()
    _make_money()
    for table, names in {"api_keys": ("team_id", "user_id"), "runs": ("team_id", "user_id", "key_id")}.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.Uuid()))
    for name in _COUNTS:
        op.add_column("runs", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    for name in ("cost_usd", "services_usd"):
        op.add_column("runs", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.create_index("ix_runs_team_id_started_at", "runs", ["team_id", "started_at"])
    op.add_column("sessions", sa.Column("team_id", sa.Uuid()))
    op.add_column("sessions", sa.Column("lifecycle", sa.String(32)))
    op.add_column("sessions", sa.Column("allowance_usd", sa.String(64)))
    op.add_column("sessions", sa.Column("is_closed", sa.Boolean(), nullable=False, server_default=sa.false()))
    _put_everything_into_one_team()


def downgrade() -> None:
    for name in ("is_closed", "allowance_usd", "lifecycle", "team_id"):
        op.drop_column("sessions", name)
    op.drop_index("ix_runs_team_id_started_at", "runs")
    for name in ("services_usd", "cost_usd", *reversed(_COUNTS), "key_id", "user_id", "team_id"):
        op.drop_column("runs", name)
    for name in ("user_id", "team_id"):
        op.drop_column("api_keys", name)
    for name in ("prices", "cap_alerts", "caps", "ledger", "members", "teams"):
        op.drop_table(name)


def _make_teams() -> None:
    op.create_table(
        "teams",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("time_zone", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
    )
    op.create_table(
        "members",
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_members_team_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_members_user_id"),
        sa.PrimaryKeyConstraint("team_id", "user_id", name="pk_members"),
    )


def _make_money() -> None:
    op.create_table(
        "ledger",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("team_id", sa.Uuid()),
        sa.Column("user_id", sa.Uuid()),
        sa.Column("key_id", sa.Uuid()),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid()),
        sa.Column("purpose", sa.String(32), nullable=False),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("cache_read_tokens", sa.Integer(), nullable=False),
        sa.Column("cache_write_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.BigInteger()),
        sa.Column("is_estimated", sa.Boolean(), nullable=False),
        sa.Column("price_version", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_ledger"),
    )
    for name in ("team_id", "user_id", "key_id"):
        op.create_index(f"ix_ledger_{name}_at_cost_usd", "ledger", [name, "at", "cost_usd"])
    op.create_index("ix_ledger_at_cost_usd", "ledger", ["at", "cost_usd"])
    op.create_index("ix_ledger_session_id", "ledger", ["session_id"])
    op.create_table(
        "caps",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("scope", sa.String(32), nullable=False),
        sa.Column("subject_id", sa.Uuid()),
        sa.Column("period", sa.String(32), nullable=False),
        *(sa.Column(name, sa.BigInteger()) for name in ("hard_usd", "soft_usd", "raise_usd")),
        sa.Column("raise_until", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_caps"),
        sa.UniqueConstraint("scope", "subject_id", "period", name="uq_caps_scope"),
    )
    op.create_table(
        "cap_alerts",
        sa.Column("cap_id", sa.Uuid(), nullable=False),
        sa.Column("window_start", sa.DateTime(timezone=True), nullable=False),
        sa.Column("percent", sa.Integer(), nullable=False),
        sa.Column("spent_usd", sa.BigInteger(), nullable=False),
        sa.Column("limit_usd", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["cap_id"], ["caps.id"], name="fk_cap_alerts_cap_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cap_id", "window_start", "percent", name="pk_cap_alerts"),
    )
    op.create_table(
        "prices",
        sa.Column("model", sa.String(200), nullable=False),
        *(
            sa.Column(name, sa.String(64), nullable=False)
            for name in ("input_usd", "cache_read_usd", "cache_write_usd", "output_usd")
        ),
        sa.Column("long_from", sa.Integer()),
        sa.Column("long_factor", sa.String(64)),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("model", name="pk_prices"),
    )


def _put_everything_into_one_team() -> None:
    """Make the team that an appliance begins with; whatever there was belongs to it, and everybody owns it."""
    team, now = uuid4(), datetime.now(UTC)
    moment, uuid = sa.DateTime(timezone=True), sa.Uuid()
    teams = sa.table(
        "teams", sa.column("id", uuid), sa.column("name"), sa.column("time_zone"), sa.column("created_at", moment)
    )
    op.execute(teams.insert().values(id=team, name="Home", time_zone="UTC", created_at=now))
    for name in ("api_keys", "runs", "sessions"):
        op.execute(sa.table(name, sa.column("team_id", uuid)).update().values(team_id=team))
    users = sa.table("users", sa.column("id", uuid))
    members = sa.table(
        "members",
        sa.column("team_id", uuid),
        sa.column("user_id", uuid),
        sa.column("role"),
        sa.column("created_at", moment),
    )
    columns = ["team_id", "user_id", "role", "created_at"]
    everybody = sa.select(sa.literal(team, uuid), users.c.id, sa.literal("owner", sa.String()), sa.literal(now, moment))
    op.execute(members.insert().from_select(columns, everybody))
