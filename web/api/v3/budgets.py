"""The calls on caps: list, set, raise for a while, remove.

A team's key looks at its own, the bootstrap key does all.
"""

from decimal import Decimal, InvalidOperation
from uuid import UUID

from litestar import delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from appliance.errors import NotAllowed, RequestInvalid
from appliance.money.caps import Gauge
from appliance.persistence.records import Payer
from appliance.runtime.caps import Caps, CapWish
from web.api.v3.shapes.budgets import Amount, BudgetListView, BudgetRequest, BudgetView, RaiseRequest
from web.problems import PROBLEMS


@get("/budgets", responses=PROBLEMS, tags=["budgets"], summary="List caps on spending")
async def list_budgets(caps: NamedDependency[Caps], payer: NamedDependency[Payer | None]) -> BudgetListView:
    """Return the caps of the key's team, its members and keys, and how they stand; with the bootstrap key all."""
    gauges = await caps.list_gauges(payer and payer.team_id)
    return BudgetListView(budgets=[render_budget(gauge) for gauge in gauges])


@put("/budgets", responses=PROBLEMS, tags=["budgets"], summary="Set a cap on spending")
async def set_budget(
    caps: NamedDependency[Caps], payer: NamedDependency[Payer | None], data: JSONBody[BudgetRequest]
) -> BudgetView:
    """Make a cap, or change the limits of the one there is for this scope, subject and period. It counts at once."""
    _require_full_scope(payer)
    wish = CapWish(
        scope=data.scope,
        period=data.period,
        hard_usd=_read_amount(data.hard_usd, "hardUsd"),
        soft_usd=_read_amount(data.soft_usd, "softUsd"),
        subject_id=data.subject_id,
    )
    return render_budget(await caps.set(wish))


@post(
    "/budgets/{budget_id:uuid}/raise",
    status_code=200,
    responses=PROBLEMS,
    tags=["budgets"],
    summary="Raise a cap for a while",
)
async def raise_budget(
    caps: NamedDependency[Caps],
    payer: NamedDependency[Payer | None],
    budget_id: FromPath[UUID],
    data: JSONBody[RaiseRequest],
) -> BudgetView:
    """Add an amount to both limits until a moment, in place of an earlier raise. It counts at once."""
    _require_full_scope(payer)
    amount = _read_amount(data.amount_usd, "amountUsd") or Decimal(0)
    return render_budget(await caps.raise_until(budget_id, amount, data.until))


@delete("/budgets/{budget_id:uuid}", status_code=204, responses=PROBLEMS, tags=["budgets"], summary="Remove a cap")
async def remove_budget(
    caps: NamedDependency[Caps], payer: NamedDependency[Payer | None], budget_id: FromPath[UUID]
) -> None:
    """Take the cap away at once; what was spent stays in the ledger."""
    _require_full_scope(payer)
    await caps.remove(budget_id)


def render_budget(gauge: Gauge) -> BudgetView:
    """Return the cap as callers see it."""
    cap = gauge.cap
    return BudgetView(
        id=cap.id,
        scope=cap.scope,
        subject_id=cap.subject_id,
        subject_name=cap.subject_name,
        period=cap.period,
        time_zone=cap.time_zone,
        hard_usd=_write_amount(cap.hard_usd),
        soft_usd=_write_amount(cap.soft_usd),
        limit_usd=f"{gauge.limit:f}",
        spent_usd=f"{gauge.spent:f}",
        share=float(gauge.share),
        is_used_up=gauge.is_used_up,
        window_start=gauge.window.start,
        resets_at=gauge.window.end,
        forecast_usd=_write_amount(gauge.forecast),
        raise_usd=_write_amount(gauge.raised or None),
        raise_until=cap.raise_until if gauge.raised else None,
        updated_at=cap.updated_at,
    )


def _require_full_scope(payer: Payer | None) -> None:
    if payer is not None:
        raise NotAllowed(
            "A team's key cannot change caps; use the key of the setting API_KEY, the page Budgets or pilothouse cap."
        )


def _read_amount(value: Amount | None, name: str) -> Decimal | None:
    if value is None:
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation as error:
        raise RequestInvalid(f"{name} is an amount in US dollars, such as 5 or 2.50.", "body", name) from error


def _write_amount(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"
