"""How much a session may have cost when its current run ends: the caller's cap, scaled, and topped up by follow-ups.

Caps that were written for another service's prices can be scaled by the setting CLOUD_MAX_COST_FACTOR.
"""

from decimal import ROUND_CEILING, Decimal

from appliance.persistence.records import SessionRecord
from appliance.persistence.sessions import SessionChanges

_CENT = Decimal("0.01")


def round_up(amount: Decimal) -> Decimal:
    """Return the amount in whole cents, none of it lost."""
    return amount.quantize(_CENT, ROUND_CEILING)


def scale(cap: Decimal, factor: Decimal) -> Decimal:
    """Return a caller's cap as it holds here; rounded up to the cent unless it is taken as it is."""
    return cap if factor == 1 else round_up(cap * factor)


def top_up(session: SessionRecord, changes: SessionChanges, *, is_first: bool = False) -> SessionChanges:
    """Return what a follow-up makes of the session's money beside its other changes.

    A cap that it names stands in them, and is what the whole session may have cost then; that of the first task is
    also its allowance. Without one, a session that is kept alive gets its allowance again beyond what it has spent,
    and any other keeps what it had.
    """
    if "max_cost_usd" in changes and is_first:
        return SessionChanges(allowance_usd=changes["max_cost_usd"])
    if "max_cost_usd" in changes or session.allowance_usd is None:
        return SessionChanges()
    if changes.get("keep_alive", session.keep_alive):
        return SessionChanges(max_cost_usd=round_up(session.cost_usd + session.allowance_usd))
    return SessionChanges()
