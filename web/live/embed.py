"""The page of one session that can be put into other sites: the address which the API returns as `liveUrl`."""

from typing import Any
from uuid import UUID

from litestar import Request
from litestar.response import Template

from appliance.runtime.assembly import Appliance
from web.feed_rows import arrange
from web.session_view import load_session_view

_STRETCH = 200


async def show_embed(request: Request[Any, Any, Any], appliance: Appliance, session_id: UUID, link: str) -> Template:
    """Return the page; `theme` may be dark or light, `ui=false` leaves the picture alone. Raises NotFound."""
    view = await load_session_view(appliance.database, session_id)
    page = await appliance.sessions.read_events(session_id, limit=_STRETCH)
    theme = request.query_params.get("theme", "")
    context: dict[str, Any] = {
        "view": view,
        "rows": arrange(page.events),
        "last": page.events[-1].sequence if page.events else 0,
        "earlier": None,
        "link": link,
        "oob": False,
        "theme": theme if theme in ("dark", "light") else "",
        "with_ui": request.query_params.get("ui", "").lower() not in ("false", "0", "no"),
    }
    return Template("pages/session_embed.html", context=context)
