"""Who pays for what a signed-in person starts, and what they may see and do about money: by the team they are in."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from litestar import Request

from appliance.errors import NotAllowed
from appliance.persistence.database import Database
from appliance.persistence.records import MemberRecord, Payer
from appliance.persistence.teams import find_first_team, find_membership
from appliance.persistence.users import find_user
from appliance.words import Role
from web.signin import viewer_of


@dataclass(frozen=True)
class Standing:
    """What a person may do about money: see what `team_id` spends, None being everybody, and perhaps change caps."""

    team_id: UUID | None
    may_change_caps: bool


async def find_member(request: Request[Any, Any, Any], database: Database) -> MemberRecord | None:
    """Return the person's membership; None for everybody where no sign-in is asked for.

    Raises NotAllowed for a person who is in no team any more.
    """
    viewer = viewer_of(request)
    if viewer is None or not viewer.email:
        return None
    async with database.read() as transaction:
        user = await find_user(transaction, viewer.email)
        member = None if user is None else await find_membership(transaction, user.id)
    if member is None:
        raise NotAllowed("You are in no team here any more; ask an owner to let you in again.")
    return member


async def find_payer(request: Request[Any, Any, Any], database: Database) -> Payer | None:
    """Return who pays for what the person starts; None for the first team."""
    member = await find_member(request, database)
    return None if member is None else Payer(member.team_id, member.user_id)


async def find_standing(request: Request[Any, Any, Any], database: Database) -> Standing:
    """Return what the person may do: the first team sees everything, and its owners and admins change caps.

    Raises NotAllowed for a person who is in no team any more.
    """
    member = await find_member(request, database)
    if member is None:
        return Standing(None, may_change_caps=True)
    async with database.read() as transaction:
        first = await find_first_team(transaction)
    if member.team_id != first.id:
        return Standing(member.team_id, may_change_caps=False)
    return Standing(None, may_change_caps=member.role in (Role.OWNER, Role.ADMIN))
