"""What services other than the model cost a session, as part of its whole cost."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("services_usd", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("sessions", "services_usd")
