"""Reads and changes session rows; a deleted session is as good as absent, only its row stays."""

from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypedDict, Unpack
from uuid import UUID

import msgspec
from sqlalchemy import ColumnElement, Row, and_, bindparam, func, insert, or_, select, update

from appliance.errors import NotFound
from appliance.persistence.columns import read_tokens, token_values, utc_now
from appliance.persistence.prepared import Prepared
from appliance.persistence.queue import find_positions
from appliance.persistence.records import FieldWarning, SessionPage, SessionRecord
from appliance.persistence.tables import runs, sessions
from appliance.persistence.transaction import Transaction
from appliance.words import Effort, FailureKind, Lifecycle, SessionStatus


class SessionChanges(TypedDict, total=False):
    """What becomes different about a session; what is not named stays. `more_steps` is added."""

    status: SessionStatus
    model: str
    wire_model: str
    title: str
    output: Any
    output_schema: dict[str, Any] | None
    effort: Effort | None
    thinking_level: str | None
    keep_alive: bool
    max_cost_usd: Decimal | None
    max_steps: int | None
    timeout: float | None
    system_prompt_extension: str
    screen_width: int | None
    screen_height: int | None
    allowed_domains: tuple[str, ...]
    sensitive_data: str | None
    last_step_summary: str | None
    is_successful: bool | None
    failure: FailureKind | None
    failure_status_code: int | None
    screenshot: str | None
    warnings: tuple[FieldWarning, ...]
    lifecycle: Lifecycle | None
    allowance_usd: Decimal | None
    is_closed: bool
    workspace_id: UUID | None
    profile_id: UUID | None
    more_steps: int


async def add_session(transaction: Transaction, session: SessionRecord) -> None:
    """Write a new session; `queue_position` is not stored but follows from the queued runs."""
    await transaction.execute(
        insert(sessions).values(
            id=session.id,
            status=session.status,
            model=session.model,
            wire_model=session.wire_model,
            title=session.title,
            output=session.output,
            output_schema=session.output_schema,
            effort=session.effort,
            thinking_level=session.thinking_level,
            keep_alive=session.keep_alive,
            max_cost_usd=session.max_cost_usd,
            max_steps=session.max_steps,
            timeout=session.timeout,
            system_prompt_extension=session.system_prompt_extension,
            screen_width=session.screen_width,
            screen_height=session.screen_height,
            allowed_domains=session.allowed_domains or None,
            sensitive_data=session.sensitive_data,
            step_count=session.step_count,
            last_step_summary=session.last_step_summary,
            is_successful=session.is_successful,
            failure=session.failure,
            failure_status_code=session.failure_status_code,
            cost_usd=session.cost_usd,
            services_usd=session.services_usd,
            screenshot=session.screenshot,
            warnings=session.warnings or None,
            created_at=session.created_at,
            updated_at=session.updated_at,
            team_id=session.team_id,
            lifecycle=session.lifecycle,
            allowance_usd=session.allowance_usd,
            is_closed=session.is_closed,
            workspace_id=session.workspace_id,
            profile_id=session.profile_id,
            **token_values(session.tokens),
        )
    )


async def find_session(transaction: Transaction, session_id: UUID) -> SessionRecord:
    """Return the session; raises NotFound when there is none or it was deleted."""
    row = (await transaction.execute(_FIND, {"wanted": session_id})).first()
    if row is None:
        raise NotFound("Session not found")
    return (await _to_records(transaction, (row,)))[0]


async def list_sessions(
    transaction: Transaction, *, page: int = 1, page_size: int = 20, team_id: UUID | None = None
) -> SessionPage:
    """Return one page of the sessions, newest first, of one team or of all; a page past the end is empty."""
    wanted = sessions.c.deleted_at.is_(None)
    if team_id is not None:
        wanted = and_(wanted, sessions.c.team_id == team_id)
    total = await transaction.scalar(select(func.count()).select_from(sessions).where(wanted))
    newest_first = select(sessions).where(wanted).order_by(sessions.c.created_at.desc(), sessions.c.id.desc())
    result = await transaction.execute(newest_first.limit(page_size).offset((page - 1) * page_size))
    return SessionPage(await _to_records(transaction, result.rows), total or 0)


async def count_active(transaction: Transaction, team_id: UUID) -> int:
    """Return how many sessions of the team have a browser: those that run, are paused or are parked."""
    has_browser = or_(sessions.c.status == SessionStatus.RUNNING, sessions.c.lifecycle == Lifecycle.PARKED)
    wanted = and_(sessions.c.team_id == team_id, sessions.c.deleted_at.is_(None), has_browser)
    return await transaction.scalar(select(func.count()).select_from(sessions).where(wanted)) or 0


async def find_team_of(transaction: Transaction, session_id: UUID) -> UUID | None:
    """Return the team that a session belongs to; raises NotFound when there is no such session."""
    row = (await transaction.execute(_FIND_TEAM, {"wanted": session_id})).first()
    if row is None:
        raise NotFound("Session not found")
    return row.team_id


async def expire_shells(transaction: Transaction, before: datetime) -> tuple[UUID, ...]:
    """Time out the sessions made before then that were never given a task; returns which."""
    shells = (await transaction.execute(select(sessions.c.id).where(_is_shell(), sessions.c.created_at <= before))).rows
    expired = tuple(row.id for row in shells)
    for session_id in expired:
        await change_session(
            transaction,
            session_id,
            status=SessionStatus.TIMED_OUT,
            lifecycle=Lifecycle.EXPIRED,
            last_step_summary="Expired: no task was given to it.",
        )
    return expired


async def find_oldest_shell(transaction: Transaction) -> datetime | None:
    """Return when the oldest session was made that waits for its first task; None while there is none."""
    oldest = select(sessions.c.created_at).where(_is_shell()).order_by(sessions.c.created_at).limit(1)
    return await transaction.scalar(oldest)


async def clear_lifecycles(transaction: Transaction, *lifecycles: Lifecycle) -> None:
    """Take back what was true only while a process of ours lived, such as that a browser is parked."""
    await transaction.execute(update(sessions).where(sessions.c.lifecycle.in_(lifecycles)).values(lifecycle=None))


async def change_session(transaction: Transaction, session_id: UUID, **changes: Unpack[SessionChanges]) -> None:
    """Apply the changes and move `updated_at`; raises NotFound when there is no such session."""
    values: dict[str, Any] = {"updated_at": utc_now(), **changes}
    await _update(transaction, session_id, values)


async def delete_session(transaction: Transaction, session_id: UUID, at: datetime | None = None) -> None:
    """Hide the session from every later read; raises NotFound when there is none."""
    await _update(transaction, session_id, {"deleted_at": at or utc_now()})


async def _update(transaction: Transaction, session_id: UUID, values: dict[str, Any]) -> None:
    result = await transaction.execute(_prepare_change(*values), {**values, "changed": session_id})
    if result.rowcount == 0:
        raise NotFound("Session not found")


_IS_ALIVE = sessions.c.deleted_at.is_(None)
_FIND = select(sessions).where(sessions.c.id == bindparam("wanted"), _IS_ALIVE)
_FIND_TEAM = select(sessions.c.team_id).where(sessions.c.id == bindparam("wanted"))
_CHANGE = update(sessions).where(sessions.c.id == bindparam("changed"), _IS_ALIVE)
_CHANGE_COUNTING = _CHANGE.values(step_count=sessions.c.step_count + bindparam("more_steps"))


@lru_cache(256)
def _prepare_change(*names: str) -> Prepared:
    if "more_steps" not in names:
        return Prepared(_CHANGE, *names)
    return Prepared(_CHANGE_COUNTING, *(name for name in names if name != "more_steps"))


def _is_shell() -> ColumnElement[bool]:
    has_run = select(runs.c.id).where(runs.c.session_id == sessions.c.id).exists()
    waits = sessions.c.status.in_((SessionStatus.CREATED, SessionStatus.IDLE))
    return and_(waits, sessions.c.deleted_at.is_(None), ~has_run)


async def _to_records(transaction: Transaction, rows: tuple[Row[Any], ...]) -> tuple[SessionRecord, ...]:
    """Return the rows as records, with the place in the queue of those that wait."""
    is_any_waiting = any(row.status is SessionStatus.CREATED for row in rows)
    positions = await find_positions(transaction) if is_any_waiting else {}
    return tuple(_to_record(row, positions.get(row.id)) for row in rows)


def _to_record(row: Row[Any], queue_position: int | None) -> SessionRecord:
    return SessionRecord(
        id=row.id,
        status=row.status,
        model=row.model,
        wire_model=row.wire_model,
        created_at=row.created_at,
        updated_at=row.updated_at,
        title=row.title,
        output=row.output,
        output_schema=row.output_schema,
        effort=row.effort,
        thinking_level=row.thinking_level,
        keep_alive=row.keep_alive,
        max_cost_usd=row.max_cost_usd,
        max_steps=row.max_steps,
        timeout=row.timeout,
        system_prompt_extension=row.system_prompt_extension,
        screen_width=row.screen_width,
        screen_height=row.screen_height,
        allowed_domains=tuple(row.allowed_domains or ()),
        sensitive_data=row.sensitive_data,
        step_count=row.step_count,
        last_step_summary=row.last_step_summary,
        is_successful=row.is_successful,
        failure=row.failure,
        failure_status_code=row.failure_status_code,
        tokens=read_tokens(row),
        cost_usd=row.cost_usd,
        services_usd=row.services_usd,
        screenshot=row.screenshot,
        warnings=msgspec.convert(row.warnings or (), tuple[FieldWarning, ...]),
        queue_position=queue_position,
        team_id=row.team_id,
        lifecycle=row.lifecycle,
        allowance_usd=row.allowance_usd,
        is_closed=row.is_closed,
        workspace_id=row.workspace_id,
        profile_id=row.profile_id,
    )
