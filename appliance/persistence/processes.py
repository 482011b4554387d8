"""Remembers process groups of ours, so that the next start can end those that a crash left running."""

from sqlalchemy import delete, insert, select

from appliance.persistence.columns import utc_now
from appliance.persistence.records import ProcessRecord
from appliance.persistence.tables import processes
from appliance.persistence.transaction import Transaction


async def remember_process(transaction: Transaction, process: ProcessRecord) -> None:
    """Write the group down; one with the same number, which must be long gone, is replaced."""
    await forget_process(transaction, process.pgid)
    await transaction.execute(
        insert(processes).values(
            pgid=process.pgid,
            kind=process.kind,
            start_ticks=process.start_ticks,
            session_id=process.session_id,
            created_at=utc_now(),
        )
    )


async def forget_process(transaction: Transaction, pgid: int) -> None:
    """Strike the group off the list; it need not be on it."""
    await transaction.execute(delete(processes).where(processes.c.pgid == pgid))


async def list_processes(transaction: Transaction) -> tuple[ProcessRecord, ...]:
    """Return the groups that were remembered and not forgotten, oldest first."""
    rows = await transaction.execute(select(processes).order_by(processes.c.created_at))
    return tuple(ProcessRecord(row.pgid, row.kind, row.start_ticks, row.session_id) for row in rows)
