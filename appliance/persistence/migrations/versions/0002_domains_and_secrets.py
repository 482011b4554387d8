"""What a session may open and the secrets it may use: its allowed domains, and sealed text."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("allowed_domains", sa.Text()))
    op.add_column("sessions", sa.Column("sensitive_data", sa.Text()))


def downgrade() -> None:
    op.drop_column("sessions", "sensitive_data")
    op.drop_column("sessions", "allowed_domains")
