"""Serves the files of sessions to whoever holds a signed link: no key, no cookie, for some minutes."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import File

from appliance.runtime.folders import SessionFolders
from appliance.runtime.links import Signer
from appliance.runtime.session_files import find_file
from appliance.settings import Settings

LIFETIME = timedelta(minutes=15)


def file_url(base_url: str, signer: Signer, session_id: UUID, path: str) -> str:
    """Return an address from which the file can be fetched for at least fifteen minutes."""
    return signer.link(base_url, _link_path(session_id, path), LIFETIME)


def file_links_router(settings: Settings, signer: Signer) -> Router:
    """Return the router of /files."""

    @get("/{session_id:uuid}/{folder:str}/{name:str}", sync_to_thread=True)
    def send_file(
        session_id: FromPath[UUID], folder: FromPath[str], name: FromPath[str], token: FromQuery[str] = ""
    ) -> File:
        """Return the file as one to be saved; a link that is wrong, expired or leads nowhere is 404."""
        path = f"{folder}/{name}"
        is_signed = signer.verify(_link_path(session_id, path), token)
        file = find_file(SessionFolders.of(settings, session_id), path) if is_signed else None
        if file is None:
            raise NotFoundException("The link to this file is wrong or has expired; list the session's files again.")
        return as_download(file)

    return Router("/files", route_handlers=[send_file], include_in_schema=False)


def as_download(file: Path) -> File:
    """Return an answer that saves the file: what a page or an agent wrote must never run as a page of this server."""
    return File(
        file,
        filename=file.name,
        media_type="application/octet-stream",
        content_disposition_type="attachment",
        headers={
            "Cache-Control": "private, no-store",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox; default-src 'none'",
        },
    )


def _link_path(session_id: UUID, path: str) -> str:
    return f"/files/{session_id}/{path}"
