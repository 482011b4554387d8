"""The call that lists the files of a session: what the agent wrote down, what its browser downloaded."""

import asyncio
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, QueryParameter

from appliance.errors import RequestInvalid
from appliance.runtime.folders import SessionFolders
from appliance.runtime.session_files import SessionFile, list_files
from appliance.runtime.sessions import Sessions
from appliance.settings import Settings
from web.api.v3.renderings import Renderer
from web.api.v3.shapes.files import FileInfoView, FileListView
from web.file_links import file_url
from web.problems import PROBLEMS


@dataclass(frozen=True)
class FileQuery:
    """Which files are asked for."""

    prefix: str
    limit: int
    cursor: str
    include_urls: bool
    shallow: bool


def read_query(
    prefix: FromQuery[str] = "",
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
    cursor: FromQuery[str] = "",
    include_urls: Annotated[bool, QueryParameter(name="includeUrls")] = False,
    shallow: FromQuery[bool] = False,
) -> FileQuery:
    """Return what the query of a request asks for."""
    return FileQuery(prefix, limit, cursor, include_urls, shallow)


@get(
    "/sessions/{session_id:uuid}/files",
    responses=PROBLEMS,
    tags=["sessions"],
    summary="List files",
    dependencies={"asked": Provide(read_query, sync_to_thread=False)},
)
async def list_session_files(
    sessions: NamedDependency[Sessions],
    renderer: NamedDependency[Renderer],
    own_settings: NamedDependency[Settings],
    asked: NamedDependency[FileQuery],
    session_id: FromPath[UUID],
) -> FileListView:
    """Return the files whose paths begin with `prefix`, by path, those behind `cursor` first.

    With `includeUrls` each has an address to fetch it from without a key; with `shallow` what lies in folders below
    the prefix is told as their names.
    """
    await sessions.find(session_id)
    if asked.cursor and not asked.cursor.startswith(asked.prefix):
        raise RequestInvalid("This cursor is of another list; leave it out to begin anew.", "query", "cursor")
    found = await asyncio.to_thread(list_files, SessionFolders.of(own_settings, session_id))
    matching = [file for file in found if file.path.startswith(asked.prefix)]
    folders: list[str] = []
    if asked.shallow:
        below = {file.path: file.path[len(asked.prefix) :].partition("/") for file in matching}
        folders = sorted({name for name, slash, _ in below.values() if slash})
        matching = [file for file in matching if not below[file.path][1]]
    matching = [file for file in matching if file.path > asked.cursor]
    shown = matching[: asked.limit]
    has_more = len(matching) > len(shown)

    def view(file: SessionFile) -> FileInfoView:
        url = file_url(renderer.base_url, renderer.signer, session_id, file.path) if asked.include_urls else None
        return FileInfoView(path=file.path, size=file.size, last_modified=file.modified, url=url)

    return FileListView(
        files=[view(file) for file in shown],
        folders=folders,
        next_cursor=shown[-1].path if has_more else None,
        has_more=has_more,
    )
