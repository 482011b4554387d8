"""The calls on workspaces: make, list, get, rename, delete, and what lies in them."""

import asyncio
from typing import Annotated
from uuid import UUID

from litestar import delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from appliance.persistence.records import Payer, WorkspaceRecord
from appliance.runtime.workspaces import Workspaces
from appliance.workspaces.workspace import clean_path
from web.api.v3.file_lists import FileQuery, list_stretch, read_query
from web.api.v3.renderings import Renderer
from web.api.v3.shapes.files import FileListView
from web.api.v3.shapes.workspaces import (
    UploadRequest,
    UploadTarget,
    UploadView,
    WorkspaceListView,
    WorkspaceRequest,
    WorkspaceSizeView,
    WorkspaceView,
)
from web.problems import PROBLEMS
from web.workspace_links import download_url, upload_url

_LAST_PAGE = 1_000_000_000


@post("/workspaces", responses=PROBLEMS, tags=["workspaces"], summary="Make a workspace")
async def create_workspace(
    workspaces: NamedDependency[Workspaces],
    payer: NamedDependency[Payer | None],
    data: JSONBody[WorkspaceRequest | None] = None,
) -> WorkspaceView:
    """Make an empty workspace: a folder whose files outlive the sessions that use it."""
    return _render(await workspaces.create(data and data.name, payer and payer.team_id))


@get("/workspaces", responses=PROBLEMS, tags=["workspaces"], summary="List workspaces")
async def list_workspaces(
    workspaces: NamedDependency[Workspaces],
    payer: NamedDependency[Payer | None],
    page_number: Annotated[int, QueryParameter(name="pageNumber", ge=1, le=_LAST_PAGE)] = 1,
    page_size: Annotated[int, QueryParameter(name="pageSize", ge=1, le=100)] = 10,
) -> WorkspaceListView:
    """Return one page of the workspaces, newest first; a page past the end is empty."""
    found = await workspaces.list_page(page_number, page_size, payer and payer.team_id)
    items = [_render(workspace) for workspace in found.workspaces]
    return WorkspaceListView(items=items, total_items=found.total, page_number=page_number, page_size=page_size)


@get("/workspaces/{workspace_id:uuid}", responses=PROBLEMS, tags=["workspaces"], summary="Get a workspace")
async def get_workspace(
    workspaces: NamedDependency[Workspaces], payer: NamedDependency[Payer | None], workspace_id: FromPath[UUID]
) -> WorkspaceView:
    """Return the workspace."""
    return _render(await workspaces.find(workspace_id, payer and payer.team_id))


@patch("/workspaces/{workspace_id:uuid}", responses=PROBLEMS, tags=["workspaces"], summary="Rename a workspace")
async def update_workspace(
    workspaces: NamedDependency[Workspaces],
    payer: NamedDependency[Payer | None],
    workspace_id: FromPath[UUID],
    data: JSONBody[WorkspaceRequest],
) -> WorkspaceView:
    """Give the workspace another name, or none."""
    return _render(await workspaces.rename(workspace_id, data.name, payer and payer.team_id))


@delete(
    "/workspaces/{workspace_id:uuid}",
    status_code=204,
    responses=PROBLEMS,
    tags=["workspaces"],
    summary="Delete a workspace",
)
async def delete_workspace(
    workspaces: NamedDependency[Workspaces], payer: NamedDependency[Payer | None], workspace_id: FromPath[UUID]
) -> None:
    """Delete the workspace with all its files."""
    await workspaces.delete(workspace_id, payer and payer.team_id)


@get(
    "/workspaces/{workspace_id:uuid}/files",
    responses=PROBLEMS,
    tags=["workspaces"],
    summary="List the files of a workspace",
    dependencies={"asked": Provide(read_query, sync_to_thread=False)},
)
async def list_workspace_files(
    workspaces: NamedDependency[Workspaces],
    renderer: NamedDependency[Renderer],
    payer: NamedDependency[Payer | None],
    asked: NamedDependency[FileQuery],
    workspace_id: FromPath[UUID],
) -> FileListView:
    """Return the files whose paths begin with `prefix`, by path, those behind `cursor` first.

    With `includeUrls` each has an address to fetch it from without a key; with `shallow` what lies in folders below
    the prefix is told as their names.
    """
    workspace = await workspaces.open(workspace_id, payer and payer.team_id)
    found = await asyncio.to_thread(workspace.list_files, asked.prefix)
    return list_stretch(found, asked, lambda path: download_url(renderer.base_url, renderer.signer, workspace_id, path))


@post(
    "/workspaces/{workspace_id:uuid}/files/upload",
    status_code=200,
    responses=PROBLEMS,
    tags=["workspaces"],
    summary="Ask where to upload files",
)
async def upload_workspace_files(
    workspaces: NamedDependency[Workspaces],
    renderer: NamedDependency[Renderer],
    payer: NamedDependency[Payer | None],
    workspace_id: FromPath[UUID],
    data: JSONBody[UploadRequest],
    prefix: FromQuery[str] = "",
) -> UploadView:
    """Return an address for each file, to which its bytes are sent with PUT, without a key, within some minutes.

    A file that has the path by then is replaced. `prefix` is put before each name as it is.
    """
    workspace = await workspaces.open(workspace_id, payer and payer.team_id)
    places = [clean_path(prefix + file.name) for file in data.files]
    sizes = {path: file.size for path, file in zip(places, data.files, strict=True)}
    await asyncio.to_thread(workspace.check_room, sizes)
    return UploadView(
        files=[
            UploadTarget(
                name=file.name,
                upload_url=upload_url(renderer.base_url, renderer.signer, workspace_id, path, file.size),
                path=path,
            )
            for path, file in zip(places, data.files, strict=True)
        ]
    )


@delete(
    "/workspaces/{workspace_id:uuid}/files",
    status_code=204,
    responses=PROBLEMS,
    tags=["workspaces"],
    summary="Delete a file of a workspace",
)
async def delete_workspace_file(
    workspaces: NamedDependency[Workspaces],
    payer: NamedDependency[Payer | None],
    workspace_id: FromPath[UUID],
    path: FromQuery[str],
) -> None:
    """Delete the file at `path`, and the folders that it leaves empty."""
    workspace = await workspaces.open(workspace_id, payer and payer.team_id)
    await asyncio.to_thread(workspace.delete, path)


@get("/workspaces/{workspace_id:uuid}/size", responses=PROBLEMS, tags=["workspaces"], summary="Measure a workspace")
async def get_workspace_size(
    workspaces: NamedDependency[Workspaces], payer: NamedDependency[Payer | None], workspace_id: FromPath[UUID]
) -> WorkspaceSizeView:
    """Return how much the workspace holds and may hold."""
    workspace = await workspaces.open(workspace_id, payer and payer.team_id)
    used = await asyncio.to_thread(workspace.used_bytes)
    return WorkspaceSizeView(used_bytes=used, max_bytes=workspace.max_bytes)


def _render(workspace: WorkspaceRecord) -> WorkspaceView:
    return WorkspaceView(
        id=workspace.id, created_at=workspace.created_at, updated_at=workspace.updated_at, name=workspace.name
    )
