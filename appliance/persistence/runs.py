"""Reads and changes run rows: the tasks of a session in the order they were given."""

from datetime import datetime
from functools import lru_cache
from typing import Any, TypedDict, Unpack
from uuid import UUID

from sqlalchemy import Row, bindparam, func, insert, select, update

from appliance.errors import NotFound
from appliance.persistence.columns import read_tokens, utc_now
from appliance.persistence.ids import new_id
from appliance.persistence.prepared import Prepared
from appliance.persistence.records import Payer, ReplaySource, RunRecord
from appliance.persistence.tables import runs
from appliance.persistence.transaction import Transaction
from appliance.words import Ending, FailureKind, RunStatus

# Provenance is as long as the answer many times over, and seldom asked for.
_COLUMNS = tuple(column for column in runs.c if column.name != "provenance")


class RunChanges(TypedDict, total=False):
    """What becomes different about a run; what is not named stays."""

    status: RunStatus
    started_at: datetime | None
    ended_at: datetime | None
    paused_at: datetime | None
    paused_seconds: float
    ending: Ending | None
    output: Any
    is_successful: bool | None
    failure: FailureKind | None
    failure_status_code: int | None
    provenance: dict[str, Any] | None


async def add_run(
    transaction: Transaction,
    session_id: UUID,
    *,
    task: str,
    model: str,
    replays: ReplaySource | None = None,
    payer: Payer | None = None,
) -> RunRecord:
    """Write a new queued run with the session's next number, counted from 1, and return it."""
    last = await transaction.scalar(select(func.max(runs.c.number)).where(runs.c.session_id == session_id))
    run = RunRecord(
        id=new_id(),
        session_id=session_id,
        number=(last or 0) + 1,
        task=task,
        model=model,
        status=RunStatus.QUEUED,
        created_at=utc_now(),
        replays=replays,
        payer=payer,
    )
    await transaction.execute(
        insert(runs).values(
            id=run.id,
            session_id=session_id,
            number=run.number,
            task=task,
            model=model,
            status=run.status,
            created_at=run.created_at,
            replays=None if replays is None else _pack(replays),
            team_id=payer.team_id if payer else None,
            user_id=payer.user_id if payer else None,
            key_id=payer.key_id if payer else None,
        )
    )
    return run


async def change_run(transaction: Transaction, run_id: UUID, **changes: Unpack[RunChanges]) -> None:
    """Apply the changes; raises NotFound when there is no such run."""
    result = await transaction.execute(_prepare_change(*changes), {**changes, "changed": run_id})
    if result.rowcount == 0:
        raise NotFound("Run not found")


@lru_cache(64)
def _prepare_change(*names: str) -> Prepared:
    return Prepared(update(runs).where(runs.c.id == bindparam("changed")), *names)


_ONE_STEP_MORE = Prepared(update(runs).where(runs.c.id == bindparam("run")).values(step_count=runs.c.step_count + 1))


async def count_step(transaction: Transaction, run_id: UUID) -> None:
    """Count one step more."""
    await transaction.execute(_ONE_STEP_MORE, {"run": run_id})


async def find_run(transaction: Transaction, run_id: UUID) -> RunRecord:
    """Return the run; raises NotFound when there is none."""
    row = (await transaction.execute(select(*_COLUMNS).where(runs.c.id == run_id))).first()
    if row is None:
        raise NotFound("Run not found")
    return _to_record(row)


async def find_latest_run(transaction: Transaction, session_id: UUID) -> RunRecord | None:
    """Return the session's newest run, or None while it has none."""
    own = select(*_COLUMNS).where(runs.c.session_id == session_id)
    row = (await transaction.execute(own.order_by(runs.c.number.desc()).limit(1))).first()
    return None if row is None else _to_record(row)


async def find_provenance(transaction: Transaction, run_id: UUID) -> dict[str, Any] | None:
    """Return where each value of the run's answer was read, by JSON pointer; None where nothing was kept of it."""
    return await transaction.scalar(select(runs.c.provenance).where(runs.c.id == run_id))


async def list_provenance(transaction: Transaction, session_id: UUID) -> dict[UUID, dict[str, Any]]:
    """Return the provenance of the session's runs that have one."""
    kept = select(runs.c.id, runs.c.provenance).where(runs.c.session_id == session_id, runs.c.provenance.is_not(None))
    return {row.id: row.provenance for row in await transaction.execute(kept)}


async def list_runs(transaction: Transaction, session_id: UUID) -> tuple[RunRecord, ...]:
    """Return the session's runs, oldest first."""
    own = select(*_COLUMNS).where(runs.c.session_id == session_id)
    return tuple(_to_record(row) for row in await transaction.execute(own.order_by(runs.c.number)))


async def list_runs_in(transaction: Transaction, *statuses: RunStatus) -> tuple[RunRecord, ...]:
    """Return every run in one of the states, oldest first."""
    matching = select(*_COLUMNS).where(runs.c.status.in_(statuses))
    return tuple(_to_record(row) for row in await transaction.execute(matching.order_by(runs.c.id)))


def _to_record(row: Row[Any]) -> RunRecord:
    return RunRecord(
        id=row.id,
        session_id=row.session_id,
        number=row.number,
        task=row.task,
        model=row.model,
        status=row.status,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        ending=row.ending,
        output=row.output,
        is_successful=row.is_successful,
        failure=row.failure,
        failure_status_code=row.failure_status_code,
        replays=None if row.replays is None else _unpack(row.replays),
        payer=None if row.team_id is None else Payer(row.team_id, row.user_id, row.key_id),
        step_count=row.step_count,
        tokens=read_tokens(row),
        cost_usd=row.cost_usd,
        services_usd=row.services_usd,
        paused_at=row.paused_at,
        paused_seconds=row.paused_seconds,
    )


def _pack(source: ReplaySource) -> dict[str, Any]:
    return {"session": str(source.session_id), "run": str(source.run_id), "with_model": source.with_model}


def _unpack(document: dict[str, Any]) -> ReplaySource:
    return ReplaySource(UUID(document["session"]), UUID(document["run"]), with_model=document["with_model"])
