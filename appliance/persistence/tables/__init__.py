"""The tables, one noun per file; importing this package makes `metadata` complete."""

from appliance.persistence.tables.api_keys import api_keys
from appliance.persistence.tables.base import metadata
from appliance.persistence.tables.caps import cap_alerts, caps
from appliance.persistence.tables.events import events
from appliance.persistence.tables.ledger import ledger
from appliance.persistence.tables.members import members
from appliance.persistence.tables.prices import prices
from appliance.persistence.tables.processes import processes
from appliance.persistence.tables.profiles import profile_versions, profiles
from appliance.persistence.tables.runs import runs
from appliance.persistence.tables.sessions import sessions
from appliance.persistence.tables.steps import steps
from appliance.persistence.tables.teams import teams
from appliance.persistence.tables.users import users
from appliance.persistence.tables.workspaces import workspaces

__all__ = [
    "api_keys",
    "cap_alerts",
    "caps",
    "events",
    "ledger",
    "members",
    "metadata",
    "prices",
    "processes",
    "profile_versions",
    "profiles",
    "runs",
    "sessions",
    "steps",
    "teams",
    "users",
    "workspaces",
]
