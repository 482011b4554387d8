"""Writes the ledger and adds it up by window, for what a cap limits.

Rows are never changed. A window takes in its first moment and not its last.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Table, Update, and_, bindparam, func, insert, select, update

from appliance.errors import NotFound
from appliance.events import Charge, cost_of, services_of, tokens_of
from appliance.persistence.caps import add_to_sums
from appliance.persistence.columns import TOKEN_COLUMNS, read_tokens, token_values, utc_now
from appliance.persistence.prepared import Prepared
from appliance.persistence.records import ChargeRecord, Payer
from appliance.persistence.tables import ledger, runs, sessions
from appliance.persistence.transaction import Transaction
from appliance.words import CapScope

_SUBJECTS = {CapScope.KEY: ledger.c.key_id, CapScope.MEMBER: ledger.c.user_id, CapScope.TEAM: ledger.c.team_id}
_TOTALS = (*TOKEN_COLUMNS, "cost_usd", "services_usd")


def _add_to(table: Table) -> Update:
    """Return the change of a row's totals, for the row whose id is `charged`, by amounts named `more_…`."""
    more = {name: table.c[name] + bindparam(f"more_{name}") for name in _TOTALS}
    return update(table).where(table.c.id == bindparam("charged")).values(more)


_ADD_TO_RUN = Prepared(_add_to(runs).returning(runs.c.team_id, runs.c.user_id, runs.c.key_id))
_ADD_TO_SESSION = Prepared(_add_to(sessions))
_NEW = Prepared(insert(ledger), *(column.name for column in ledger.c if column.name != "number"))


async def add_charges(
    transaction: Transaction, session_id: UUID, run_id: UUID, charges: Sequence[Charge]
) -> Payer | None:
    """Write one row for each charge, for whoever pays for the run, and add them to the totals of run and session.

    Nothing else changes these totals, so that they never disagree with the ledger; what is kept of the caps that bind
    who pays grows with them. A deleted session is charged too: the money is gone all the same. Returns who pays, None
    where nothing was charged or nobody is known to pay. Raises NotFound when there is no such run.
    """
    if not charges:
        return None
    cost = cost_of(charges)
    totals = {**token_values(tokens_of(charges)), "cost_usd": cost, "services_usd": services_of(charges)}
    more = {f"more_{name}": amount for name, amount in totals.items()}
    paying = (await transaction.execute(_ADD_TO_RUN, {"charged": run_id, **more})).first()
    if paying is None:
        raise NotFound("Run not found")
    await transaction.execute(_ADD_TO_SESSION, {"charged": session_id, **more})
    now = utc_now()
    for charge in charges:
        row = {
            "at": now,
            "team_id": paying.team_id,
            "user_id": paying.user_id,
            "key_id": paying.key_id,
            "session_id": session_id,
            "run_id": run_id,
            "purpose": charge.purpose,
            "model": charge.model,
            "cost_usd": charge.cost_usd,
            "is_estimated": charge.is_estimated,
            "price_version": charge.price_version,
            **token_values(charge.tokens),
        }
        await transaction.execute(_NEW, row)
    payer = Payer(paying.team_id, paying.user_id, paying.key_id) if paying.team_id else None
    await add_to_sums(transaction, payer, now, cost)
    return payer


async def sum_spent(
    transaction: Transaction,
    scope: CapScope,
    subject_id: UUID | None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Decimal:
    """Return the US dollars that a key, a member or a team (`subject_id`), or the instance (None) spent in a window.

    What has no known price is left out. Without `since` or `until` the window is open at that end.
    """
    within = in_window(since, until)
    if scope is not CapScope.INSTANCE:
        within.append(_SUBJECTS[scope] == subject_id)
    return await transaction.scalar(select(func.sum(ledger.c.cost_usd)).where(and_(True, *within))) or Decimal(0)


async def costs_of_runs(transaction: Transaction, run_ids: Sequence[UUID]) -> dict[UUID, Decimal]:
    """Return the US dollars that each of the runs has in the ledger by now."""
    rows = await transaction.execute(select(runs.c.id, runs.c.cost_usd).where(runs.c.id.in_(run_ids)))
    return {row.id: row.cost_usd for row in rows}


async def costs_of_turns(transaction: Transaction, session_id: UUID) -> tuple[Decimal, ...]:
    """Return the US dollars of each of the session's runs, the first one's first."""
    own = select(runs.c.cost_usd).where(runs.c.session_id == session_id).order_by(runs.c.number)
    return tuple(row.cost_usd for row in await transaction.execute(own))


async def list_charges(transaction: Transaction, session_id: UUID) -> tuple[ChargeRecord, ...]:
    """Return what a session was charged, in the order it was written."""
    own = select(ledger).where(ledger.c.session_id == session_id).order_by(ledger.c.number)
    return tuple(_to_record(row) for row in await transaction.execute(own))


def in_window(since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    """Return the conditions that keep a query of the ledger within a window."""
    conditions: list[ColumnElement[bool]] = []
    if since is not None:
        conditions.append(ledger.c.at >= since)
    if until is not None:
        conditions.append(ledger.c.at < until)
    return conditions


def _to_record(row: Row[Any]) -> ChargeRecord:
    return ChargeRecord(
        at=row.at,
        session_id=row.session_id,
        run_id=row.run_id,
        team_id=row.team_id,
        user_id=row.user_id,
        key_id=row.key_id,
        charge=Charge(
            purpose=row.purpose,
            model=row.model,
            tokens=read_tokens(row),
            cost_usd=row.cost_usd,
            is_estimated=row.is_estimated,
            price_version=row.price_version,
        ),
    )
