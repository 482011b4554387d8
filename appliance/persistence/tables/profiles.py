"""One row per profile, and one per version of its jar; what the versions hold is sealed."""

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Uuid

from appliance.persistence.columns import Json, Moment, Word
from appliance.persistence.tables.base import metadata
from appliance.words import VersionSource

profiles = Table(
    "profiles",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("team_id", Uuid, ForeignKey("teams.id"), nullable=False),
    Column("name", String(100)),
    Column("user_id", String(255)),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("cookie_domains", Json, nullable=False),
    Column("version", Integer, nullable=False),
    Index("profiles_newest", "team_id", "created_at"),
)

profile_versions = Table(
    "profile_versions",
    metadata,
    Column("profile_id", Uuid, ForeignKey("profiles.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("source", Word(VersionSource), nullable=False),
    Column("session_id", Uuid),
    Column("created_at", Moment, nullable=False),
    Column("cookies", Integer, nullable=False),
    Column("origins", Integer, nullable=False),
    Column("added", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("removed", Integer, nullable=False),
    Column("conflicts", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("sealed_jar", LargeBinary, nullable=False),
    Column("sealed_merge", LargeBinary, nullable=False),
)
