"""What can be done with workspaces: made, looked at, renamed, deleted, and their files read and written."""

import asyncio
import re
import shutil
from pathlib import Path
from uuid import UUID

from appliance.errors import RequestInvalid
from appliance.persistence import workspaces as rows
from appliance.persistence.database import Database, Transaction
from appliance.persistence.records import WorkspacePage, WorkspaceRecord
from appliance.persistence.teams import find_first_team
from appliance.settings import Settings
from appliance.workspaces.workspace import Workspace

LONGEST_NAME = 100

_OURS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\.[0-9a-f-]{36}-[0-9a-f]{32}")
"""The name of a workspace's folder, or of one that is being deleted."""


class Workspaces:
    """The use cases. With a `team_id` only that team's workspaces are there; unknown ids raise NotFound everywhere."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database

    async def create(self, name: str | None, team_id: UUID | None) -> WorkspaceRecord:
        """Make an empty workspace, of the first team unless another is named; raises RequestInvalid for its name."""
        name = _clean(name)

        async def write(transaction: Transaction) -> WorkspaceRecord:
            owner = team_id or (await find_first_team(transaction)).id
            return await rows.add_workspace(transaction, owner, name)

        made = await self._database.writer.submit(write)
        await asyncio.to_thread(files_of(self._settings, made.id).make)
        return made

    async def list_page(self, page: int, page_size: int, team_id: UUID | None) -> WorkspacePage:
        """Return one page, newest first; a page past the end is empty."""
        async with self._database.read() as transaction:
            return await rows.list_workspaces(transaction, page=page, page_size=page_size, team_id=team_id)

    async def find(self, workspace_id: UUID, team_id: UUID | None) -> WorkspaceRecord:
        """Return the workspace."""
        async with self._database.read() as transaction:
            return await rows.find_workspace(transaction, workspace_id, team_id)

    async def rename(self, workspace_id: UUID, name: str | None, team_id: UUID | None) -> WorkspaceRecord:
        """Give it another name, or none; raises RequestInvalid for an unusable one."""
        name = _clean(name)

        async def write(transaction: Transaction) -> WorkspaceRecord:
            return await rows.rename_workspace(transaction, workspace_id, team_id, name)

        return await self._database.writer.submit(write)

    async def delete(self, workspace_id: UUID, team_id: UUID | None) -> None:
        """Delete the workspace with its files; runs that work in it go on and find it empty."""

        async def write(transaction: Transaction) -> None:
            await rows.delete_workspace(transaction, workspace_id, team_id)

        await self._database.writer.submit(write)
        await asyncio.to_thread(files_of(self._settings, workspace_id).destroy)

    async def open(self, workspace_id: UUID, team_id: UUID | None) -> Workspace:
        """Return the files of a workspace that is there."""
        await self.find(workspace_id, team_id)
        workspace = files_of(self._settings, workspace_id)
        await asyncio.to_thread(workspace.make)
        return workspace

    async def sweep(self) -> None:
        """Delete what a crash has left: folders whose workspace is gone, and files that were on their way."""
        async with self._database.read() as transaction:
            known = {str(workspace_id) for workspace_id in await rows.list_workspace_ids(transaction)}

        def clear() -> None:
            for folder in _root(self._settings).glob("*"):
                if folder.name in known:
                    Workspace(folder, 0).forget_arrivals()
                elif _OURS.fullmatch(folder.name) and not folder.is_symlink():
                    shutil.rmtree(folder, ignore_errors=True)

        await asyncio.to_thread(clear)


def files_of(settings: Settings, workspace_id: UUID) -> Workspace:
    """Return the files of a workspace that is known to be there, or was."""
    return Workspace(_root(settings) / str(workspace_id), settings.workspace_max_mb * 1_000_000)


def _root(settings: Settings) -> Path:
    return settings.data_dir.absolute() / "workspaces"


def _clean(name: str | None) -> str | None:
    if name is None or not name.strip():
        return None
    if len(name) > LONGEST_NAME:
        raise RequestInvalid(f"A name has at most {LONGEST_NAME} characters; shorten it.", "body", "name")
    return name.strip()
