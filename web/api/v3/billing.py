"""The call on the account of a key."""

from decimal import Decimal

from litestar import get
from litestar.di import NamedDependency

from appliance.persistence.database import Database
from appliance.persistence.records import Payer
from appliance.runtime.accounts import read_account
from appliance.settings import Settings
from web.api.v3.shapes.billing import AccountView
from web.problems import PROBLEMS


@get("/billing/account", responses=PROBLEMS, tags=["money"], summary="See what the team has left")
async def get_account(
    database: NamedDependency[Database],
    own_settings: NamedDependency[Settings],
    payer: NamedDependency[Payer | None],
) -> AccountView:
    """Return the key's team, the money that its caps leave, and how many browsers it uses of how many."""
    account = await read_account(database, payer)
    left, slots = account.left_usd or Decimal(0), own_settings.max_concurrent_sessions
    return AccountView(
        name=account.name,
        total_credits_balance_usd=float(left),
        monthly_credits_balance_usd=float(left - account.extra_usd),
        additional_credits_balance_usd=float(account.extra_usd),
        rate_limit=slots,
        concurrent_session_limit=slots,
        active_session_count=account.active_sessions,
        project_id=account.team_id,
        api_key_id=payer and payer.key_id,
    )
