"""Who may look at a session: signed-in people, and whoever holds the session's signed link."""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from litestar.connection import ASGIConnection

from appliance.errors import NotAllowed, NotAuthenticated
from appliance.runtime.links import Signer, live_path
from appliance.settings import Settings
from web.signin import viewer_of

Connection = ASGIConnection[Any, Any, Any, Any]


class Admission:
    """Checks connections under /live."""

    def __init__(self, settings: Settings, signer: Signer) -> None:
        self._home = urlsplit(settings.base_url).netloc.lower()
        self._signer = signer

    def admit(self, connection: Connection, session_id: UUID) -> str:
        """Return what links of the page have to carry: "?token=…" for the holder of a link, "" for a signed-in person.

        Raises NotAuthenticated for anybody else.
        """
        token = connection.query_params.get("token", "")
        if self._signer.verify(live_path(session_id), token):
            return f"?token={token}"
        if viewer_of(connection) is None:
            raise NotAuthenticated("This link is wrong or has expired. Ask for a new one, or sign in.")
        return ""

    def check_origin(self, connection: Connection, *, by_link: bool) -> None:
        """Raise NotAllowed for a socket that a page of another site has opened with its visitor's cookie.

        Programs send no Origin; they have to come with a link.
        """
        origin = connection.headers.get("origin", "")
        here = {self._home, connection.headers.get("host", "").lower()}
        if (origin or not by_link) and urlsplit(origin).netloc.lower() not in here:
            raise NotAllowed("The live view can be opened from this server's own pages only.")
