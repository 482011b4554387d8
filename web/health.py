"""Says whether the server is up, and whether it can work."""

from typing import Any

from litestar import Router, get
from litestar.response import Response

from appliance.models.providers import load_clients
from appliance.runtime.assembly import Appliance


def health_router(appliance: Appliance) -> Router:
    """Return /health and /healthz (the process answers) and /readyz (database and models' clients are there too)."""

    @get(["/health", "/healthz"], sync_to_thread=False)
    def report_health() -> dict[str, str]:
        """Answer, which is all there is to it."""
        return {"status": "ok"}

    @get("/readyz")
    async def report_readiness() -> Response[dict[str, Any]]:
        """Look whether the database answers and whether a run could ask its model at once."""
        if not await appliance.database.answers():
            problem = "The database does not answer; look at the log and at the disk of DATA_DIR."
        elif not load_clients(appliance.provider_keys):
            problem = "The models' clients are still being loaded; a run that begins now waits for them."
        else:
            return Response({"status": "ok"})
        return Response({"status": "unavailable", "detail": problem}, status_code=503)

    return Router("/", route_handlers=[report_health, report_readiness], include_in_schema=False)
