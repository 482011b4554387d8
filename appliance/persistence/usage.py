"""Adds the ledger up in groups, for people who want to know what became of the money."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, String, and_, case, cast, column, func, select, values
from sqlalchemy.sql.expression import FromClause

from appliance.persistence.columns import TOKEN_COLUMNS, Moment, read_tokens
from appliance.persistence.ledger import in_window
from appliance.persistence.records import UsageRecord
from appliance.persistence.tables import api_keys, ledger, sessions, users
from appliance.persistence.transaction import Transaction
from appliance.words import Purpose, UsageGroup

MOST_GROUPS = 1_000
"""Groups that are told of at most, the dearest first."""


@dataclass(frozen=True)
class Day:
    """A day with its first moment and the first moment after it, which are not always 24 hours apart."""

    date: date
    begin: datetime
    end: datetime


async def sum_by_day(transaction: Transaction, days: Sequence[Day], team_id: UUID | None) -> tuple[UsageRecord, ...]:
    """Return what was spent on each of the days, in their order, by one team or (None) by all."""
    columns = (column("date", String), column("begin", Moment), column("end", Moment))
    calendar = values(*columns, name="days").data([(f"{day.date}", day.begin, day.end) for day in days]).cte("days")
    within = and_(ledger.c.at >= calendar.c.begin, ledger.c.at < calendar.c.end, _of_team(team_id))
    query = select(calendar.c.date.label("key"), *_SUMS).select_from(calendar.join(ledger, within))
    found = {row.key: row for row in await transaction.execute(query.group_by(calendar.c.date))}
    return tuple(
        _to_record(found[name], name) if name in found else UsageRecord(name, name)
        for name in (f"{day.date}" for day in days)
    )


async def sum_by_group(
    transaction: Transaction, group: UsageGroup, since: datetime, until: datetime, team_id: UUID | None
) -> tuple[UsageRecord, ...]:
    """Return what was spent by each model, member, key, purpose or session in a window, the dearest first.

    Not for days, see `sum_by_day`. Of more than 1,000 groups the rest is left out.
    """
    key, label, source = _SOURCES[group]
    cost = func.coalesce(func.sum(ledger.c.cost_usd), 0)
    query = (
        select(key.label("key"), label.label("label"), *_SUMS)
        .select_from(source)
        .where(and_(*in_window(since, until), _of_team(team_id)))
        .group_by(key, label)
        .order_by(cost.desc(), func.count().desc(), key)
        .limit(MOST_GROUPS)
    )
    return tuple(_to_record(row, row.label) for row in await transaction.execute(query))


async def sum_all(transaction: Transaction, since: datetime, until: datetime, team_id: UUID | None) -> UsageRecord:
    """Return what was spent in a window."""
    query = select(*_SUMS).where(and_(*in_window(since, until), _of_team(team_id)))
    row = (await transaction.execute(query)).first()
    return UsageRecord("", "") if row is None else _to_record(row, "")


def _of_team(team_id: UUID | None) -> ColumnElement[bool]:
    return ledger.c.number > 0 if team_id is None else ledger.c.team_id == team_id


_SUMS: tuple[ColumnElement[Any], ...] = (
    func.count().label("calls"),
    *(func.sum(ledger.c[name]).label(name) for name in (*TOKEN_COLUMNS, "cost_usd")),
    func.sum(case((ledger.c.purpose == Purpose.CAPTCHA, ledger.c.cost_usd))).label("services_usd"),
    func.sum(case((ledger.c.cost_usd.is_(None), 1), else_=0)).label("unpriced"),
    func.sum(case((ledger.c.is_estimated, 1), else_=0)).label("estimated"),
)

_SOURCES: dict[UsageGroup, tuple[ColumnElement[Any], ColumnElement[Any], FromClause]] = {
    UsageGroup.MODEL: (ledger.c.model, ledger.c.model, ledger),
    UsageGroup.PURPOSE: (cast(ledger.c.purpose, String), cast(ledger.c.purpose, String), ledger),
    UsageGroup.MEMBER: (ledger.c.user_id, users.c.email, ledger.outerjoin(users, users.c.id == ledger.c.user_id)),
    UsageGroup.KEY: (ledger.c.key_id, api_keys.c.name, ledger.outerjoin(api_keys, api_keys.c.id == ledger.c.key_id)),
    UsageGroup.SESSION: (
        ledger.c.session_id,
        sessions.c.title,
        ledger.outerjoin(sessions, and_(sessions.c.id == ledger.c.session_id, sessions.c.deleted_at.is_(None))),
    ),
}


def _to_record(row: Row[Any], label: str | None) -> UsageRecord:
    key = getattr(row, "key", None)
    return UsageRecord(
        key="" if key is None else str(key),
        label=label or "",
        calls=row.calls,
        tokens=read_tokens(row),
        cost_usd=row.cost_usd or Decimal(0),
        services_usd=row.services_usd or Decimal(0),
        unpriced=row.unpriced or 0,
        estimated=row.estimated or 0,
    )
