"""Which recorded run a run does again, if it is a replay."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("runs", sa.Column("replays", sa.Text()))


def downgrade() -> None:
    op.drop_column("runs", "replays")
