"""Where each value of a run's answer was read."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("runs", sa.Column("provenance", sa.Text()))


def downgrade() -> None:
    op.drop_column("runs", "provenance")
