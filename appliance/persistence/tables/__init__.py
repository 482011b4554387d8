"""The tables, one noun per file; importing this package makes `metadata` complete."""

from appliance.persistence.tables.api_keys import api_keys
from appliance.persistence.tables.base import metadata
from appliance.persistence.tables.events import events
from appliance.persistence.tables.processes import processes
from appliance.persistence.tables.runs import runs
from appliance.persistence.tables.sessions import sessions
from appliance.persistence.tables.steps import steps
from appliance.persistence.tables.users import users

__all__ = ["api_keys", "events", "metadata", "processes", "runs", "sessions", "steps", "users"]
