"""Says whether the server is up, and whether it can work."""

from typing import Any

from litestar import Router, get
from litestar.response import Response

from appliance.persistence.database import Database


def health_router(database: Database) -> Router:
    """Return /health and /healthz (the process answers) and /readyz (its database answers too)."""

    @get(["/health", "/healthz"], sync_to_thread=False)
    def report_health() -> dict[str, str]:
        """Answer, which is all there is to it."""
        return {"status": "ok"}

    @get("/readyz")
    async def report_readiness() -> Response[dict[str, Any]]:
        """Look whether the database answers."""
        if await database.answers():
            return Response({"status": "ok"})
        problem = "The database does not answer; look at the log and at the disk of DATA_DIR."
        return Response({"status": "unavailable", "detail": problem}, status_code=503)

    return Router("/", route_handlers=[report_health, report_readiness], include_in_schema=False)
