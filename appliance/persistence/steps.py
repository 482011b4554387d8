"""Writes and reads the steps of a run."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import Row, bindparam, insert, select, update

from appliance.events import TokenCount
from appliance.persistence.columns import TOKEN_COLUMNS, read_tokens, token_values
from appliance.persistence.prepared import Prepared
from appliance.persistence.records import StepRecord
from appliance.persistence.tables import steps
from appliance.persistence.transaction import Transaction

_NEW = Prepared(
    insert(steps),
    *(
        "run_id",
        "number",
        "created_at",
        "url",
        "title",
        "screenshot",
        "cost_usd",
        "observe_ms",
        "think_ms",
        *TOKEN_COLUMNS,
    ),
)
# What is added as unknown makes the sum unknown, as in SQL.
_ADD = Prepared(
    update(steps)
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("step"))
    .values({name: steps.c[name] + bindparam(f"more_{name}") for name in (*TOKEN_COLUMNS, "cost_usd")})
)


async def add_step(transaction: Transaction, step: StepRecord) -> None:
    """Write a step of a run."""
    values = {
        "run_id": step.run_id,
        "number": step.number,
        "created_at": step.created_at,
        "url": step.url,
        "title": step.title,
        "screenshot": step.screenshot,
        "cost_usd": step.cost_usd,
        "observe_ms": step.observe_ms,
        "think_ms": step.think_ms,
        **token_values(step.tokens),
    }
    await transaction.execute(_NEW, values)


async def add_to_step(
    transaction: Transaction, run_id: UUID, number: int, tokens: TokenCount, cost_usd: Decimal | None
) -> None:
    """Add to what a step used, as for model calls of its actions; an unknown price makes the step's cost unknown."""
    values = {"run": run_id, "step": number, "more_cost_usd": cost_usd}
    more = {f"more_{name}": count for name, count in token_values(tokens).items()}
    await transaction.execute(_ADD, {**values, **more})


async def list_steps(transaction: Transaction, run_id: UUID) -> tuple[StepRecord, ...]:
    """Return the run's steps in order."""
    own = select(steps).where(steps.c.run_id == run_id).order_by(steps.c.number)
    return tuple(_to_record(row) for row in await transaction.execute(own))


def _to_record(row: Row[Any]) -> StepRecord:
    return StepRecord(
        run_id=row.run_id,
        number=row.number,
        created_at=row.created_at,
        url=row.url,
        title=row.title,
        tokens=read_tokens(row),
        cost_usd=row.cost_usd,
        screenshot=row.screenshot,
        observe_ms=row.observe_ms,
        think_ms=row.think_ms,
    )
