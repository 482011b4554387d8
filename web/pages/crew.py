"""How many slots are taken, for the squares in the rail."""

from appliance.runtime.assembly import Appliance
from web.views import Crew


def count_crew(appliance: Appliance) -> Crew:
    """Return the count of this moment."""
    total = appliance.settings.max_concurrent_sessions
    return Crew(taken=appliance.dispatcher.taken, total=total)
