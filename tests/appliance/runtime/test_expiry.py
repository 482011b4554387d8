"""A session that is never given a task is timed out; one that is given a task in time is not."""

from datetime import timedelta

import pytest

from appliance.errors import Conflict
from appliance.runtime.expiry import LIFETIME, Expiry
from appliance.runtime.wishes import SessionWish
from appliance.words import Lifecycle, SessionStatus, StopStrategy


async def _until(sessions, hub, session, status):
    async with hub.watch(session.id) as watch:
        while (found := await sessions.find(session.id)).status is not status:
            assert await watch.wait(timeout=20)
    return found


def test_a_session_waits_a_quarter_of_an_hour_for_its_first_task():
    assert timedelta(minutes=15) == LIFETIME


async def test_a_session_without_a_task_is_timed_out_and_said_to_have_expired(sessions, equipment):
    overdue, busy = await sessions.create(SessionWish()), await sessions.create(SessionWish(task="Go."))
    expiry = Expiry(equipment.database, equipment.hub, timedelta(seconds=0.3))
    expiry.start()
    try:
        expired = await _until(sessions, equipment.hub, overdue, SessionStatus.TIMED_OUT)
        later = await sessions.create(SessionWish())
        assert (await _until(sessions, equipment.hub, later, SessionStatus.TIMED_OUT)).is_successful is None
    finally:
        await expiry.close()
    assert (expired.lifecycle, expired.last_step_summary) == (Lifecycle.EXPIRED, "Expired: no task was given to it.")
    assert (await sessions.find(busy.id)).status is SessionStatus.CREATED
    for keep_alive in (None, True):
        with pytest.raises(Conflict, match="expired"):
            await sessions.create(SessionWish(task="Too late.", session_id=overdue.id, keep_alive=keep_alive))


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_a_session_expires_however_it_was_to_be_kept(sessions, equipment, is_stopped):
    shell = await sessions.create(SessionWish(keep_alive=True))
    if is_stopped:
        await sessions.stop(shell.id, StopStrategy.TASK)
    expiry = Expiry(equipment.database, equipment.hub, timedelta(0))
    expiry.start()
    try:
        await _until(sessions, equipment.hub, shell, SessionStatus.TIMED_OUT)
    finally:
        await expiry.close()
    with pytest.raises(Conflict, match="expired"):
        await sessions.create(SessionWish(task="Too late.", session_id=shell.id))
