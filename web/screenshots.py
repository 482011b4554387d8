"""Serves the pictures of steps to whoever holds a signed link: no key, no cookie, for some minutes."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import File

from appliance.runtime.folders import SessionFolders
from appliance.runtime.links import Signer
from appliance.settings import Settings

LIFETIME = timedelta(minutes=5)
_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}


def screenshot_path(session_id: UUID, name: str) -> str:
    """Return the path of a picture, to which a link adds its token."""
    return f"/screenshots/{session_id}/{name}"


def screenshot_url(base_url: str, signer: Signer, session_id: UUID, name: str) -> str:
    """Return an address that shows the picture for at least five minutes; with an empty base, one on this server."""
    return signer.link(base_url, screenshot_path(session_id, name), LIFETIME)


def screenshots_router(settings: Settings, signer: Signer) -> Router:
    """Return the router of /screenshots."""

    @get("/{session_id:uuid}/{name:str}", sync_to_thread=True)
    def show_screenshot(session_id: FromPath[UUID], name: FromPath[str], token: FromQuery[str] = "") -> File:
        """Return the picture; a link that is wrong, expired or leads nowhere is 404."""
        picture = read_picture(settings, session_id, name, keep_seconds=300)
        if picture is None or not signer.verify(screenshot_path(session_id, name), token):
            raise NotFoundException("The link to this screenshot is wrong or has expired; read the session again.")
        return picture

    return Router("/screenshots", route_handlers=[show_screenshot], include_in_schema=False)


def read_picture(settings: Settings, session_id: UUID, name: str, *, keep_seconds: int) -> File | None:
    """Return the answer with a step's picture, which browsers may keep so long; None for a name that is not one."""
    path = find_picture(settings, session_id, name)
    if path is None:
        return None
    return File(
        path,
        media_type=_TYPES[path.suffix],
        content_disposition_type="inline",
        headers={"Cache-Control": f"private, max-age={keep_seconds}, immutable", "X-Content-Type-Options": "nosniff"},
    )


def find_picture(settings: Settings, session_id: UUID, name: str) -> Path | None:
    """Return where a session's picture of this name is kept; None for a name that is not one, or no more."""
    folder = SessionFolders.of(settings, session_id).screenshots
    path = folder / name
    if path.parent != folder or path.suffix not in _TYPES or path.is_symlink() or not path.is_file():
        return None
    return path
