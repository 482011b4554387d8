"""Folders of files that outlive sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("team_id", sa.Uuid(), sa.ForeignKey("teams.id"), nullable=False),
        sa.Column("name", sa.String(100)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("workspaces_newest", "workspaces", ["team_id", "created_at"])
    op.add_column("sessions", sa.Column("workspace_id", sa.Uuid()))


def downgrade() -> None:
    op.drop_column("sessions", "workspace_id")
    op.drop_table("workspaces")
