import asyncio
import sys

from appliance.persistence.processes import list_processes, remember_process
from appliance.persistence.queue import queued_runs
from appliance.persistence.records import ProcessRecord
from appliance.persistence.runs import change_run, find_latest_run
from appliance.persistence.sessions import change_session
from appliance.runtime.folders import browsers_dir
from appliance.runtime.processes import read_start_ticks
from appliance.runtime.recovery import recover
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, RunStatus, SessionStatus


async def _mark_running(equipment, session):
    async def write(transaction):
        run = await find_latest_run(transaction, session.id)
        await change_run(transaction, run.id, status=RunStatus.RUNNING)
        await change_session(transaction, session.id, status=SessionStatus.RUNNING, more_steps=2, screenshot="x.jpg")

    await equipment.database.writer.submit(write)


async def _start_sleeper(*arguments):
    command = (sys.executable, "-c", "import time; time.sleep(60)", *arguments)
    return await asyncio.create_subprocess_exec(*command, start_new_session=True)


async def _remember(equipment, pgid, ticks):
    async def write(transaction):
        await remember_process(transaction, ProcessRecord(pgid, "chromium", ticks))

    await equipment.database.writer.submit(write)


async def test_a_session_that_was_running_ends_without_a_failure_kind_and_keeps_what_it_had(sessions, equipment):
    session = await sessions.create(SessionWish(task="one"))
    await _mark_running(equipment, session)
    await recover(equipment)
    ended = await sessions.find(session.id)
    assert (ended.status, ended.failure, ended.is_successful) == (SessionStatus.ERROR, None, False)
    assert (ended.step_count, ended.screenshot) == (2, "x.jpg")
    (run,) = await sessions.list_runs(session.id)
    assert (run.status, run.ending) == (RunStatus.ENDED, Ending.INTERRUPTED)
    last = (await sessions.read_events(session.id)).events[-1].event
    assert "server" in last.summary


async def test_waiting_runs_stay_waiting_and_kept_sessions_stay_idle(sessions, equipment):
    waiting = await sessions.create(SessionWish(task="one"))
    await recover(equipment)
    async with equipment.database.read() as transaction:
        assert [run.session_id for run in await queued_runs(transaction)] == [waiting.id]
    assert (await sessions.find(waiting.id)).status is SessionStatus.CREATED


async def test_a_deleted_session_that_was_running_does_no_harm(sessions, equipment):
    session = await sessions.create(SessionWish(task="one"))
    other = await sessions.create(SessionWish(task="two"))
    await sessions.delete(session.id)
    for one in (session, other):

        async def write(transaction, one=one):
            run = await find_latest_run(transaction, one.id)
            await change_run(transaction, run.id, status=RunStatus.RUNNING)

        await equipment.database.writer.submit(write)
    await recover(equipment)
    assert (await sessions.find(other.id)).status is SessionStatus.ERROR


async def test_a_browser_that_was_written_down_is_ended_with_its_folder(equipment):
    folder = browsers_dir(equipment.settings) / "left"
    folder.mkdir(parents=True)
    (folder / "Cookies").write_text("x")
    sleeper = await _start_sleeper()
    await _remember(equipment, sleeper.pid, read_start_ticks(sleeper.pid))
    await recover(equipment)
    assert await asyncio.wait_for(sleeper.wait(), 5) == -9
    assert not folder.exists()
    async with equipment.database.read() as transaction:
        assert await list_processes(transaction) == ()


async def test_a_browser_that_nobody_wrote_down_is_found_by_its_folder(equipment):
    sleeper = await _start_sleeper(f"--user-data-dir={browsers_dir(equipment.settings)}/left")
    await recover(equipment)
    assert await asyncio.wait_for(sleeper.wait(), 5) == -9


async def test_a_stranger_with_a_number_that_was_ours_is_left_alone(equipment):
    sleeper = await _start_sleeper()
    try:
        await _remember(equipment, sleeper.pid, read_start_ticks(sleeper.pid) - 1)
        await recover(equipment)
        assert sleeper.returncode is None
        assert read_start_ticks(sleeper.pid) is not None
    finally:
        sleeper.kill()
        await sleeper.wait()
