"""One row per person in a team, with what the person may do there."""

from sqlalchemy import Column, ForeignKey, Table, Uuid

from appliance.persistence.columns import Moment, Word
from appliance.persistence.tables.base import metadata
from appliance.words import Role

members = Table(
    "members",
    metadata,
    Column("team_id", Uuid, ForeignKey("teams.id"), primary_key=True),
    Column("user_id", Uuid, ForeignKey("users.id"), primary_key=True),
    Column("role", Word(Role), nullable=False),
    Column("created_at", Moment, nullable=False),
)
