"""Takes and gives the files of workspaces by signed links: no key, no cookie, for some minutes."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from litestar import Request, Response, Router, get, put
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import File

from appliance.errors import RequestInvalid
from appliance.runtime.links import Signer
from appliance.runtime.workspaces import Workspaces
from appliance.workspaces.workspace import Arrival
from web.file_links import as_download

LIFETIME = timedelta(minutes=15)

_WRITTEN_AT_ONCE = 1 << 20
"""Bytes that are gathered before they are written."""

_WRONG_LINK = "The link to this file is wrong or has expired; ask for a new one."


def download_url(base_url: str, signer: Signer, workspace_id: UUID, path: str) -> str:
    """Return an address from which the file can be fetched for at least fifteen minutes."""
    return signer.link(base_url, _path(workspace_id, path), LIFETIME)


def upload_url(base_url: str, signer: Signer, workspace_id: UUID, path: str, size: int) -> str:
    """Return an address to which a file of exactly so many bytes can be sent for at least fifteen minutes."""
    token = signer.token(_upload(workspace_id, path, size), LIFETIME)
    return f"{base_url}{quote(_path(workspace_id, path))}?size={size}&token={token}"


def workspace_links_router(workspaces: Workspaces, signer: Signer) -> Router:
    """Return the router of /files/workspaces."""

    @get("/{workspace_id:uuid}/{path:path}")
    async def send_file(workspace_id: FromPath[UUID], path: FromPath[str], token: FromQuery[str] = "") -> File:
        """Return the file as one to be saved; a link that is wrong, expired or leads nowhere is 404."""
        path = path.removeprefix("/")
        if not signer.verify(_path(workspace_id, path), token):
            raise NotFoundException(_WRONG_LINK)
        workspace = await workspaces.open(workspace_id, None)
        return as_download(await asyncio.to_thread(workspace.locate, path))

    @put("/{workspace_id:uuid}/{path:path}", request_max_body_size=None)
    async def take_file(
        request: Request[Any, Any, Any],
        workspace_id: FromPath[UUID],
        path: FromPath[str],
        size: Annotated[int, QueryParameter(ge=1)],
        token: FromQuery[str] = "",
    ) -> Response[None]:
        """Put the body in place as the file, once all bytes that were announced have come."""
        path = path.removeprefix("/")
        if not signer.verify(_upload(workspace_id, path, size), token):
            raise NotFoundException(_WRONG_LINK)
        if request.headers.get("Content-Length", str(size)) != str(size):
            raise RequestInvalid(f"{size} bytes were announced for this file; send them all and no more.", "body")
        workspace = await workspaces.open(workspace_id, None)
        arrival = await asyncio.to_thread(workspace.begin, path, size)
        try:
            await _take_in(arrival, request.stream())
            await asyncio.to_thread(arrival.finish)
        finally:
            await asyncio.to_thread(arrival.close)
        return Response(None, status_code=200)

    return Router("/files/workspaces", route_handlers=[send_file, take_file], include_in_schema=False)


async def _take_in(arrival: Arrival, pieces: AsyncIterator[bytes]) -> None:
    """Write what comes on another thread, while the next pieces come."""
    gathered = bytearray()
    writing: asyncio.Task[None] | None = None
    try:
        async for piece in pieces:
            gathered += piece
            if len(gathered) >= _WRITTEN_AT_ONCE:
                if writing is not None:
                    await writing
                writing = asyncio.create_task(asyncio.to_thread(arrival.write, gathered))
                gathered = bytearray()
    finally:
        if writing is not None:
            await writing
    await asyncio.to_thread(arrival.write, gathered)


def _path(workspace_id: UUID, path: str) -> str:
    return f"/files/workspaces/{workspace_id}/{path}"


def _upload(workspace_id: UUID, path: str, size: int) -> str:
    return f"PUT {size} {_path(workspace_id, path)}"
