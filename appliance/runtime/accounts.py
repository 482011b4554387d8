"""What a team may still do: the money its caps leave and the browsers it uses."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from appliance.money.measuring import measure
from appliance.persistence.caps import list_caps_of
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.records import Payer
from appliance.persistence.sessions import count_active
from appliance.persistence.teams import find_first_team, find_team


@dataclass(frozen=True)
class Account:
    """A team and what it has. `left_usd` is what the tightest hard cap leaves, None where no cap is hard.

    `extra_usd` is the part of it that only lasts as long as a raise does.
    """

    team_id: UUID
    name: str
    left_usd: Decimal | None
    extra_usd: Decimal
    active_sessions: int


async def read_account(database: Database, payer: Payer | None) -> Account:
    """Return the account of who pays; without a payer that of the first team."""
    async with database.read() as transaction:
        team = await (find_first_team(transaction) if payer is None else find_team(transaction, payer.team_id))
        caps = await list_caps_of(transaction, payer or Payer(team.id))
        gauges = await measure(transaction, caps, utc_now())
        active = await count_active(transaction, team.id)
    left = [(max(Decimal(0), gauge.hard - gauge.spent), gauge.raised) for gauge in gauges if gauge.hard is not None]
    least, raised = min(left, default=(None, Decimal(0)))
    extra = Decimal(0) if least is None else min(least, raised)
    return Account(team.id, team.name, least, extra, active)
