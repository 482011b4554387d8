"""The moving picture of a run as the answer to a request, of the API and of the pages alike."""

import asyncio
from typing import Literal
from uuid import UUID

from litestar.response import File

from appliance.errors import NotFound
from appliance.runtime.films import film_of
from appliance.runtime.folders import SessionFolders
from appliance.runtime.sessions import Sessions
from appliance.settings import Settings


async def send_film(
    sessions: Sessions, settings: Settings, session_id: UUID, kind: Literal["gif", "webp"], number: int | None = None
) -> File:
    """Return the picture of the session's run of that number, counted from 1, of the last one without a number.

    Raises NotFound when there is no such session or run, or no pictures of it.
    """
    await sessions.find(session_id)
    run = None
    if number is not None:
        run = next((run for run in await sessions.list_runs(session_id) if run.number == number), None)
        if run is None:
            raise NotFound(f"The session has no run {number}")
    path = await asyncio.to_thread(film_of, SessionFolders.of(settings, session_id), kind, run)
    if path is None:
        which = "last run" if number is None else f"run {number}"
        raise NotFound(f"There are no pictures of this session's {which}")
    return File(
        path,
        filename=f"{session_id}.{kind}",
        media_type=f"image/{kind}",
        content_disposition_type="inline",
        headers={"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"},
    )
