"""Reads and writes what is known of workspaces beside their files. `team_id` None means the workspaces of all teams."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, select, true, update

from appliance.errors import NotFound
from appliance.persistence.columns import utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.records import WorkspacePage, WorkspaceRecord
from appliance.persistence.tables import workspaces
from appliance.persistence.transaction import Transaction


async def add_workspace(transaction: Transaction, team_id: UUID, name: str | None) -> WorkspaceRecord:
    """Write a new workspace."""
    now = utc_now()
    made = WorkspaceRecord(new_id(), team_id, name, now, now)
    await transaction.execute(
        insert(workspaces).values(id=made.id, team_id=team_id, name=name, created_at=now, updated_at=now)
    )
    return made


async def find_workspace(transaction: Transaction, workspace_id: UUID, team_id: UUID | None) -> WorkspaceRecord:
    """Return the workspace; raises NotFound when there is none or it is another team's."""
    row = (await transaction.execute(select(workspaces).where(_is_it(workspace_id, team_id)))).first()
    if row is None:
        raise NotFound("Workspace not found")
    return _to_record(row)


async def list_workspaces(
    transaction: Transaction, *, page: int, page_size: int, team_id: UUID | None
) -> WorkspacePage:
    """Return one page of the workspaces, newest first; a page past the end is empty."""
    wanted = _is_of(team_id)
    total = await transaction.scalar(select(func.count()).select_from(workspaces).where(wanted))
    newest = select(workspaces).where(wanted).order_by(workspaces.c.created_at.desc(), workspaces.c.id.desc())
    rows = await transaction.execute(newest.limit(page_size).offset((page - 1) * page_size))
    return WorkspacePage(tuple(_to_record(row) for row in rows), total or 0)


async def rename_workspace(
    transaction: Transaction, workspace_id: UUID, team_id: UUID | None, name: str | None
) -> WorkspaceRecord:
    """Give the workspace another name, or none; raises NotFound."""
    named = update(workspaces).where(_is_it(workspace_id, team_id)).values(name=name, updated_at=utc_now())
    await transaction.execute(named)
    return await find_workspace(transaction, workspace_id, team_id)


async def delete_workspace(transaction: Transaction, workspace_id: UUID, team_id: UUID | None) -> None:
    """Forget the workspace; raises NotFound."""
    if (await transaction.execute(delete(workspaces).where(_is_it(workspace_id, team_id)))).rowcount == 0:
        raise NotFound("Workspace not found")


async def list_workspace_ids(transaction: Transaction) -> frozenset[UUID]:
    """Return which workspaces there are."""
    return frozenset(row.id for row in await transaction.execute(select(workspaces.c.id)))


def _is_it(workspace_id: UUID, team_id: UUID | None) -> ColumnElement[bool]:
    return and_(workspaces.c.id == workspace_id, _is_of(team_id))


def _is_of(team_id: UUID | None) -> ColumnElement[bool]:
    return true() if team_id is None else workspaces.c.team_id == team_id


def _to_record(row: Row[Any]) -> WorkspaceRecord:
    return WorkspaceRecord(row.id, row.team_id, row.name, row.created_at, row.updated_at)
