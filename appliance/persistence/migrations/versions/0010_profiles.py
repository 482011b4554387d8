"""Profiles, the versions of their jars, and which session uses which."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "profiles",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("team_id", sa.Uuid(), sa.ForeignKey("teams.id"), nullable=False),
        sa.Column("name", sa.String(100)),
        sa.Column("user_id", sa.String(255)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True)),
        sa.Column("cookie_domains", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
    )
    op.create_index("profiles_newest", "profiles", ["team_id", "created_at"])
    op.create_table(
        "profile_versions",
        sa.Column("profile_id", sa.Uuid(), sa.ForeignKey("profiles.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("source", sa.String(32), nullable=False),
        sa.Column("session_id", sa.Uuid()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cookies", sa.Integer(), nullable=False),
        sa.Column("origins", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.Column("conflicts", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sealed_jar", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_merge", sa.LargeBinary(), nullable=False),
    )
    op.add_column("sessions", sa.Column("profile_id", sa.Uuid()))


def downgrade() -> None:
    op.drop_column("sessions", "profile_id")
    op.drop_table("profile_versions")
    op.drop_table("profiles")
