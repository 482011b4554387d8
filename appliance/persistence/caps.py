"""Reads and writes caps on spending, and which alerts were given of them."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, case, delete, func, insert, or_, select, update

from appliance.errors import NotFound
from appliance.persistence.columns import utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.prepared import Prepared
from appliance.persistence.records import CapRecord, Payer
from appliance.persistence.tables import api_keys, cap_alerts, caps, members, teams, users
from appliance.persistence.transaction import Transaction
from appliance.words import CapScope, Period

_SUBJECTS = {CapScope.KEY: api_keys, CapScope.MEMBER: users, CapScope.TEAM: teams}
_CALLED = {CapScope.KEY: "API key", CapScope.MEMBER: "member", CapScope.TEAM: "team"}


async def set_cap(
    transaction: Transaction,
    scope: CapScope,
    subject_id: UUID | None,
    period: Period,
    limits: tuple[Decimal | None, Decimal | None],
) -> CapRecord:
    """Write the cap, or give the one there is these limits, hard and soft; a raise of it stays.

    Raises NotFound when there is no such key, member or team. The instance has no `subject_id`.
    """
    subject_id = None if scope is CapScope.INSTANCE else subject_id
    await _require_subject(transaction, scope, subject_id)
    now, (hard, soft) = utc_now(), limits
    changed = update(caps).where(_is(scope, subject_id), caps.c.period == period)
    values = {"hard_usd": hard, "soft_usd": soft, "updated_at": now}
    if (await transaction.execute(changed.values(values))).rowcount == 0:
        fresh = {"id": new_id(), "scope": scope, "subject_id": subject_id, "period": period, "created_at": now}
        await transaction.execute(insert(caps).values({**fresh, **values}))
    return await _find(transaction, _is(scope, subject_id), caps.c.period == period)


async def find_cap(transaction: Transaction, cap_id: UUID) -> CapRecord:
    """Return the cap; raises NotFound when there is none."""
    return await _find(transaction, caps.c.id == cap_id)


async def list_caps(transaction: Transaction) -> tuple[CapRecord, ...]:
    """Return all caps, the first made first."""
    return tuple(_to_record(row) for row in await transaction.execute(_named()))


async def list_caps_of(transaction: Transaction, payer: Payer) -> tuple[CapRecord, ...]:
    """Return the caps that bind who pays: those of key, member, team and instance."""
    return tuple(_to_record(row) for row in await transaction.execute(_LIST_OF, _ids(payer)))


async def list_caps_in(transaction: Transaction, team_id: UUID) -> tuple[CapRecord, ...]:
    """Return the caps of a team, its members and its keys."""
    keys = select(api_keys.c.id).where(api_keys.c.team_id == team_id)
    people = select(members.c.user_id).where(members.c.team_id == team_id)
    own = or_(
        _is(CapScope.TEAM, team_id),
        and_(caps.c.scope == CapScope.KEY, caps.c.subject_id.in_(keys)),
        and_(caps.c.scope == CapScope.MEMBER, caps.c.subject_id.in_(people)),
    )
    return tuple(_to_record(row) for row in await transaction.execute(_named(own)))


async def raise_cap(transaction: Transaction, cap_id: UUID, amount: Decimal, until: datetime) -> None:
    """Add the amount to both limits until that moment, in place of an earlier raise; raises NotFound."""
    raised = {"raise_usd": amount, "raise_until": until, "updated_at": utc_now()}
    if (await transaction.execute(update(caps).where(caps.c.id == cap_id).values(raised))).rowcount == 0:
        raise NotFound("Budget not found")


async def remove_cap(transaction: Transaction, cap_id: UUID) -> None:
    """Take the cap away with what it has told; raises NotFound when there is none."""
    await transaction.execute(delete(cap_alerts).where(cap_alerts.c.cap_id == cap_id))
    if (await transaction.execute(delete(caps).where(caps.c.id == cap_id))).rowcount == 0:
        raise NotFound("Budget not found")


async def keep_sum(transaction: Transaction, cap_id: UUID, since: datetime, spent: Decimal) -> None:
    """Keep what the ledger has for the cap since then; `add_to_sums` goes on with it."""
    await transaction.execute(update(caps).where(caps.c.id == cap_id).values(kept_since=since, kept_usd=spent))


async def add_to_sums(transaction: Transaction, payer: Payer | None, at: datetime, amount: Decimal) -> None:
    """Add what was charged at that moment to the sums kept of the caps that bind who pays, in the same transaction.

    Without a payer only the instance's caps are bound. A sum that begins later, as after the clock was set back, stays.
    """
    values = {"at": at, "amount": amount, **_ids(payer)}
    await transaction.execute(_ADD_TO_SUMS, values)


async def list_marks(transaction: Transaction, cap_id: UUID, window_start: datetime) -> frozenset[int]:
    """Return the marks that the cap has told of in its window."""
    window = {"cap": cap_id, "start": window_start}
    return frozenset(row.percent for row in await transaction.execute(_MARKS, window))


async def add_alert(
    transaction: Transaction,
    cap_id: UUID,
    window_start: datetime,
    mark: int,
    amounts: tuple[Decimal, Decimal],
) -> None:
    """Write that the cap told of a mark in its window; the amounts are what was spent and the limit, then."""
    spent, limit = amounts
    values = {"cap_id": cap_id, "window_start": window_start, "percent": mark, "at": utc_now()}
    await transaction.execute(insert(cap_alerts).values({**values, "spent_usd": spent, "limit_usd": limit}))


async def _find(transaction: Transaction, *conditions: ColumnElement[bool]) -> CapRecord:
    row = (await transaction.execute(_named(*conditions))).first()
    if row is None:
        raise NotFound("Budget not found")
    return _to_record(row)


async def _require_subject(transaction: Transaction, scope: CapScope, subject_id: UUID | None) -> None:
    if scope is CapScope.INSTANCE:
        return
    table = _SUBJECTS[scope]
    if await transaction.scalar(select(func.count()).where(table.c.id == subject_id)) == 0:
        raise NotFound(f"There is no {_CALLED[scope]} with the id {subject_id}.")


def _is(scope: CapScope, subject_id: UUID | None) -> ColumnElement[bool]:
    return and_(caps.c.scope == scope, caps.c.subject_id == subject_id)


def _named(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the caps with what their subjects are called and in which time zone their periods begin."""
    subject = caps.c.subject_id
    first = select(teams.c.time_zone).order_by(teams.c.created_at, teams.c.id).limit(1).scalar_subquery()
    of_key = select(teams.c.time_zone).join(api_keys, api_keys.c.team_id == teams.c.id).where(api_keys.c.id == subject)
    of_member = (
        select(teams.c.time_zone)
        .join(members, members.c.team_id == teams.c.id)
        .where(members.c.user_id == subject)
        .order_by(members.c.created_at)
        .limit(1)
    )
    zone = case(
        (caps.c.scope == CapScope.KEY, of_key.scalar_subquery()),
        (caps.c.scope == CapScope.MEMBER, of_member.scalar_subquery()),
        (caps.c.scope == CapScope.TEAM, select(teams.c.time_zone).where(teams.c.id == subject).scalar_subquery()),
    )
    name = case(
        (caps.c.scope == CapScope.KEY, select(api_keys.c.name).where(api_keys.c.id == subject).scalar_subquery()),
        (caps.c.scope == CapScope.MEMBER, select(users.c.email).where(users.c.id == subject).scalar_subquery()),
        (caps.c.scope == CapScope.TEAM, select(teams.c.name).where(teams.c.id == subject).scalar_subquery()),
    )
    named = select(
        caps, func.coalesce(name, "").label("subject_name"), func.coalesce(zone, first, "UTC").label("time_zone")
    )
    return named.where(and_(True, *conditions)).order_by(caps.c.created_at, caps.c.id)


def _ids(payer: Payer | None) -> dict[str, UUID | None]:
    """Return what `_BINDS` asks for."""
    if payer is None:
        return {"key_id": None, "user_id": None, "team_id": None}
    return {"key_id": payer.key_id, "user_id": payer.user_id, "team_id": payer.team_id}


# Nothing is equal to an id that is missing.
_BINDS = or_(
    _is(CapScope.INSTANCE, None),
    and_(caps.c.scope == CapScope.KEY, caps.c.subject_id == bindparam("key_id")),
    and_(caps.c.scope == CapScope.MEMBER, caps.c.subject_id == bindparam("user_id")),
    and_(caps.c.scope == CapScope.TEAM, caps.c.subject_id == bindparam("team_id")),
)
_LIST_OF = Prepared(_named(_BINDS))
_ADD_TO_SUMS = Prepared(
    update(caps)
    .where(_BINDS, caps.c.kept_since <= bindparam("at"))
    .values(kept_usd=caps.c.kept_usd + bindparam("amount"))
)
_MARKS = Prepared(
    select(cap_alerts.c.percent).where(
        cap_alerts.c.cap_id == bindparam("cap"), cap_alerts.c.window_start == bindparam("start")
    )
)


def _to_record(row: Row[Any]) -> CapRecord:
    return CapRecord(
        id=row.id,
        scope=row.scope,
        subject_id=row.subject_id,
        period=row.period,
        hard_usd=row.hard_usd,
        soft_usd=row.soft_usd,
        created_at=row.created_at,
        updated_at=row.updated_at,
        raise_usd=row.raise_usd,
        raise_until=row.raise_until,
        subject_name=row.subject_name,
        time_zone=row.time_zone,
        kept_since=row.kept_since,
        kept_usd=row.kept_usd,
    )
