"""Puts right what an earlier process of this instance left behind: sessions that still claim to run, browsers that
nobody holds, and their folders."""

import asyncio
import shutil
from uuid import UUID

import structlog

from appliance.errors import MachineFault, NotFound
from appliance.events import RunFinished
from appliance.feed.writer import write_event
from appliance.persistence import processes as process_rows
from appliance.persistence import runs as run_rows
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.records import ProcessRecord, RunRecord
from appliance.persistence.sessions import SessionChanges, clear_lifecycles
from appliance.runtime.endings import CRASHED
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import browsers_dir
from appliance.runtime.processes import find_groups_with, group_exists, kill_group, read_start_ticks
from appliance.words import Lifecycle, RunStatus

_END_CAP = 3.0
_LOOK_AGAIN = 0.02

log = structlog.get_logger()


async def recover(equipment: Equipment) -> None:
    """Settle and sweep; called before the dispatcher starts, while nothing of this process runs yet."""
    await _sweep_processes(equipment)
    settled = await equipment.database.writer.submit(_settle_interrupted)
    if settled:
        log.info("sessions that were running when the server ended are settled", count=len(settled))
    await _sweep_displays(equipment)


async def _settle_interrupted(transaction: Transaction) -> list[UUID]:
    """Give every run that still claims to run its ending; waiting runs stay as they are. Returns their sessions.

    Nothing is paused or parked any more, though what was parked can go on as a conversation.
    """
    await clear_lifecycles(transaction, Lifecycle.PAUSED, Lifecycle.PARKED)
    interrupted = await run_rows.list_runs_in(transaction, RunStatus.RUNNING)
    for run in interrupted:
        await _settle(transaction, run)
    return [run.session_id for run in interrupted]


async def _settle(transaction: Transaction, run: RunRecord) -> None:
    await run_rows.change_run(
        transaction, run.id, status=RunStatus.ENDED, ended_at=utc_now(), ending=CRASHED.ending, is_successful=False
    )
    finished = RunFinished(ending=CRASHED.ending, is_successful=False, summary=CRASHED.summary)
    changes = SessionChanges(
        status=CRASHED.status, is_successful=False, failure=None, last_step_summary=CRASHED.summary
    )
    try:
        await write_event(transaction, run.session_id, run.id, finished, changes)
    except NotFound:
        log.debug("an interrupted run belonged to a deleted session", session=str(run.session_id))


async def _sweep_processes(equipment: Equipment) -> None:
    """Kill the browsers of an earlier process and remove their folders.

    A group is ours when its leader began when we wrote it down, or when one of its processes works in our folder;
    the second also finds a browser that was started a moment before the crash.
    """
    database, folder = equipment.database, browsers_dir(equipment.settings)
    async with database.read() as transaction:
        remembered = await process_rows.list_processes(transaction)
    groups = {process.pgid for process in remembered if read_start_ticks(process.pgid) == process.start_ticks}
    groups |= await asyncio.to_thread(find_groups_with, f"{folder}/")
    killed = [group for group in groups if kill_group(group)]
    if killed:
        log.info("browsers that an earlier process left running are ended", groups=killed)
        await _wait_for_end(killed)
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    await _forget(database, remembered)


async def _wait_for_end(groups: list[int]) -> None:
    """Wait until the groups have vanished: a dying browser still writes into its folder."""
    try:
        async with asyncio.timeout(_END_CAP):
            # Not our children any more, so nothing tells of their end.
            while any(group_exists(group) for group in groups):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_AGAIN)
    except TimeoutError:
        log.warning("killed browsers do not come to an end", groups=groups)


async def _forget(database: Database, remembered: tuple[ProcessRecord, ...]) -> None:
    async def write(transaction: Transaction) -> None:
        for process in remembered:
            await process_rows.forget_process(transaction, process.pgid)

    if remembered:
        await database.writer.submit(write)


async def _sweep_displays(equipment: Equipment) -> None:
    try:
        await equipment.pool.sweep()
    except MachineFault as error:
        log.warning("no supervisor answers, so no browser can be started yet", reason=error.message)
