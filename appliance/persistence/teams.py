"""Reads and writes teams and who is in them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, insert, select

from appliance.errors import NotFound
from appliance.persistence.columns import utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.records import MemberRecord, Payer, TeamRecord
from appliance.persistence.tables import members, teams
from appliance.persistence.transaction import Transaction
from appliance.words import Role


async def add_team(transaction: Transaction, name: str, time_zone: str = "UTC") -> TeamRecord:
    """Write a new team; `time_zone` is an IANA name."""
    team = TeamRecord(new_id(), name, time_zone, utc_now())
    await transaction.execute(
        insert(teams).values(id=team.id, name=name, time_zone=time_zone, created_at=team.created_at)
    )
    return team


async def find_team(transaction: Transaction, team_id: UUID) -> TeamRecord:
    """Return the team; raises NotFound when there is none."""
    row = (await transaction.execute(select(teams).where(teams.c.id == team_id))).first()
    if row is None:
        raise NotFound("Team not found")
    return _to_team(row)


async def find_first_team(transaction: Transaction) -> TeamRecord:
    """Return the team that the appliance began with; the migrations made it."""
    row = (await transaction.execute(select(teams).order_by(teams.c.created_at, teams.c.id).limit(1))).first()
    if row is None:
        raise NotFound("Team not found")
    return _to_team(row)


async def choose_payer(transaction: Transaction, named: Payer | None) -> Payer:
    """Return who pays for something that is begun: who is named, else the first team."""
    return named or Payer((await find_first_team(transaction)).id)


async def list_teams(transaction: Transaction) -> tuple[TeamRecord, ...]:
    """Return all teams, the first made first."""
    rows = await transaction.execute(select(teams).order_by(teams.c.created_at, teams.c.id))
    return tuple(_to_team(row) for row in rows)


async def add_member(transaction: Transaction, team_id: UUID, user_id: UUID, role: Role) -> MemberRecord:
    """Put a person into a team."""
    member = MemberRecord(team_id, user_id, role, utc_now())
    await transaction.execute(
        insert(members).values(team_id=team_id, user_id=user_id, role=role, created_at=member.created_at)
    )
    return member


async def find_membership(transaction: Transaction, user_id: UUID) -> MemberRecord | None:
    """Return the person's membership in the team joined first, or None."""
    own = select(members).where(members.c.user_id == user_id).order_by(members.c.created_at).limit(1)
    row = (await transaction.execute(own)).first()
    return None if row is None else MemberRecord(row.team_id, row.user_id, row.role, row.created_at)


def _to_team(row: Row[Any]) -> TeamRecord:
    return TeamRecord(row.id, row.name, row.time_zone, row.created_at)
