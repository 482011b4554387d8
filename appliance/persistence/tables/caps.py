"""One row per cap, and one per alert that was given of it: a cap tells of each mark once in each of its windows."""

from sqlalchemy import Column, ForeignKey, Integer, Table, UniqueConstraint, Uuid

from appliance.persistence.columns import MicroDollars, Moment, Word
from appliance.persistence.tables.base import metadata
from appliance.words import CapScope, Period

caps = Table(
    "caps",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("scope", Word(CapScope), nullable=False),
    Column("subject_id", Uuid),
    Column("period", Word(Period), nullable=False),
    Column("hard_usd", MicroDollars),
    Column("soft_usd", MicroDollars),
    Column("raise_usd", MicroDollars),
    Column("raise_until", Moment),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    # What the ledger has for the cap since a moment, so that nobody has to add it up again.
    Column("kept_since", Moment),
    Column("kept_usd", MicroDollars),
    UniqueConstraint("scope", "subject_id", "period"),
)

cap_alerts = Table(
    "cap_alerts",
    metadata,
    Column("cap_id", Uuid, ForeignKey("caps.id", ondelete="CASCADE"), primary_key=True),
    Column("window_start", Moment, primary_key=True),
    Column("percent", Integer, primary_key=True, autoincrement=False),
    Column("spent_usd", MicroDollars, nullable=False),
    Column("limit_usd", MicroDollars, nullable=False),
    Column("at", Moment, nullable=False),
)
