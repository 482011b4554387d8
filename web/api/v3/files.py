"""The call that lists the files of a session: what the agent wrote down, what its browser downloaded."""

import asyncio
from uuid import UUID

from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath

from appliance.runtime.folders import SessionFolders
from appliance.runtime.session_files import list_files
from appliance.runtime.sessions import Sessions
from appliance.settings import Settings
from web.api.v3.file_lists import FileQuery, list_stretch, read_query
from web.api.v3.renderings import Renderer
from web.api.v3.shapes.files import FileListView
from web.file_links import file_url
from web.problems import PROBLEMS


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
    found = await asyncio.to_thread(list_files, SessionFolders.of(own_settings, session_id))
    return list_stretch(found, asked, lambda path: file_url(renderer.base_url, renderer.signer, session_id, path))
