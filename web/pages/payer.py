"""Who pays for what a signed-in person starts: the team that the person is in, through this person."""

from typing import Any

from litestar import Request

from appliance.errors import NotAllowed
from appliance.persistence.database import Database
from appliance.persistence.records import MemberRecord, Payer
from appliance.persistence.teams import find_membership
from appliance.persistence.users import find_user
from web.signin import viewer_of


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
