"""How long runs have stood still."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("runs", sa.Column("paused_at", sa.DateTime(timezone=True)))
    op.add_column("runs", sa.Column("paused_seconds", sa.Float(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("runs", "paused_seconds")
    op.drop_column("runs", "paused_at")
