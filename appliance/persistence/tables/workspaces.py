"""One row per workspace; its files lie in a folder of the data directory."""

from sqlalchemy import Column, ForeignKey, Index, String, Table, Uuid

from appliance.persistence.columns import Moment
from appliance.persistence.tables.base import metadata

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("team_id", Uuid, ForeignKey("teams.id"), nullable=False),
    Column("name", String(100)),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("workspaces_newest", "team_id", "created_at"),
)
