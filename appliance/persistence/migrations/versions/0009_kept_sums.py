"""What is spent under a cap in its window, kept beside the cap."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("caps", sa.Column("kept_since", sa.DateTime(timezone=True)))
    op.add_column("caps", sa.Column("kept_usd", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("caps", "kept_usd")
    op.drop_column("caps", "kept_since")
