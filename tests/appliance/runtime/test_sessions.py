import asyncio
from decimal import Decimal
from uuid import uuid4

import pytest

from appliance.errors import Conflict, NotFound, RequestInvalid, RequestRefused
from appliance.events import Charge, Notice, RunFinished, TaskGiven
from appliance.persistence.ledger import add_charges
from appliance.persistence.records import FieldWarning
from appliance.persistence.runs import change_run, find_latest_run
from appliance.persistence.sessions import change_session
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.sealing import Seal
from appliance.runtime.sessions import Sessions
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, FailureKind, Purpose, RunStatus, SessionStatus, StopStrategy


async def _end_run(equipment, session, status=SessionStatus.IDLE, **result):
    async def write(transaction):
        run = await find_latest_run(transaction, session.id)
        await change_run(transaction, run.id, status=RunStatus.ENDED, ending=Ending.DONE)
        await change_session(transaction, session.id, status=status, **result)

    await equipment.database.writer.submit(write)


async def _event_kinds(sessions: Sessions, session):
    return [type(record.event) for record in (await sessions.read_events(session.id)).events]


async def test_a_task_makes_a_session_with_a_waiting_run_and_its_first_event(sessions):
    session = await sessions.create(SessionWish(task="Find the lamp.\nThen stop."))
    assert (session.status, session.title, session.queue_position) == (SessionStatus.CREATED, "Find the lamp.", 1)
    assert await _event_kinds(sessions, session) == [TaskGiven]
    assert [run.task for run in await sessions.list_runs(session.id)] == ["Find the lamp.\nThen stop."]


@pytest.mark.parametrize(
    ("strategy", "status"),
    [(StopStrategy.TASK, SessionStatus.IDLE), (StopStrategy.SESSION, SessionStatus.STOPPED)],
)
async def test_a_run_that_claims_to_work_though_nobody_has_it_is_ended_by_a_stop(sessions, equipment, strategy, status):
    session = await sessions.create(SessionWish(task="Find the lamp."))

    async def begin(transaction):
        run = await find_latest_run(transaction, session.id)
        await change_run(transaction, run.id, status=RunStatus.RUNNING)
        await change_session(transaction, session.id, status=SessionStatus.RUNNING)

    await equipment.database.writer.submit(begin)
    stopped = await sessions.stop(session.id, strategy)
    assert (stopped.status, stopped.last_step_summary) == (status, "Stopped; nobody was at work on it.")
    (run,) = await sessions.list_runs(session.id)
    assert (run.status, run.ending) == (RunStatus.ENDED, Ending.STOPPED)
    assert await _event_kinds(sessions, session) == [TaskGiven, RunFinished]


async def test_warnings_stand_at_the_head_of_the_feed(sessions):
    warning = FieldWarning("profileId", "not_supported", "Profiles are not there yet.")
    session = await sessions.create(SessionWish(task="t", warnings=(warning,)))
    assert session.warnings == (warning,)
    assert await _event_kinds(sessions, session) == [Notice, TaskGiven]


async def test_without_a_task_there_is_a_session_that_waits_for_one(sessions):
    shell = await sessions.create(SessionWish())
    assert shell.status is SessionStatus.CREATED
    assert await sessions.list_runs(shell.id) == ()
    session = await sessions.create(SessionWish(task="Go.", session_id=shell.id))
    assert (session.id, session.title, session.queue_position) == (shell.id, "Go.", 1)


async def test_a_refused_wish_leaves_nothing_behind(sessions):
    with pytest.raises(RequestInvalid):
        await sessions.create(SessionWish(task="t", model="no-such-model"))
    assert (await sessions.list_page()).total == 0


async def test_a_follow_up_clears_the_result_and_keeps_what_was_not_said(sessions, equipment):
    session = await sessions.create(SessionWish(task="one", keep_alive=True, max_steps=5))
    await _end_run(
        equipment,
        session,
        output="old",
        is_successful=False,
        failure=FailureKind.BUDGET_EXCEEDED,
        last_step_summary="x",
    )
    follow_up = await sessions.create(SessionWish(task="two", session_id=session.id))
    assert follow_up.status is SessionStatus.CREATED
    assert (follow_up.output, follow_up.is_successful, follow_up.failure) == (None, None, None)
    assert (follow_up.last_step_summary, follow_up.max_steps, follow_up.title) == (None, 5, "one")
    assert [run.number for run in await sessions.list_runs(session.id)] == [1, 2]


async def test_a_busy_session_refuses_a_second_task(sessions):
    session = await sessions.create(SessionWish(task="one"))
    with pytest.raises(Conflict, match="busy"):
        await sessions.create(SessionWish(task="two", session_id=session.id))


@pytest.mark.parametrize("status", [SessionStatus.STOPPED, SessionStatus.ERROR, SessionStatus.TIMED_OUT])
async def test_a_session_that_has_ended_refuses_a_task(sessions, equipment, status):
    session = await sessions.create(SessionWish(task="one"))
    await _end_run(equipment, session, status)
    with pytest.raises(Conflict, match="ended"):
        await sessions.create(SessionWish(task="two", session_id=session.id))


@pytest.mark.parametrize(
    ("strategy", "status"), [(StopStrategy.TASK, SessionStatus.IDLE), (StopStrategy.SESSION, SessionStatus.STOPPED)]
)
async def test_a_waiting_run_is_stopped_before_the_answer(sessions, strategy, status):
    session = await sessions.create(SessionWish(task="one"))
    stopped = await sessions.stop(session.id, strategy)
    assert (stopped.status, stopped.is_successful, stopped.queue_position) == (status, False, None)
    (run,) = await sessions.list_runs(session.id)
    assert (run.status, run.ending) == (RunStatus.ENDED, Ending.STOPPED)
    assert await _event_kinds(sessions, session) == [TaskGiven, RunFinished]


async def test_stopping_again_changes_nothing(sessions, equipment):
    session = await sessions.create(SessionWish(task="one"))
    await _end_run(equipment, session, SessionStatus.STOPPED, output="kept", is_successful=True)
    stopped = await sessions.stop(session.id)
    assert (stopped.status, stopped.output, stopped.is_successful) == (SessionStatus.STOPPED, "kept", True)


async def test_an_idle_session_can_be_stopped_and_keeps_its_result(sessions, equipment):
    session = await sessions.create(SessionWish(task="one", keep_alive=True))
    await _end_run(equipment, session, output="kept", is_successful=True)
    stopped = await sessions.stop(session.id)
    assert (stopped.status, stopped.output, stopped.is_successful) == (SessionStatus.STOPPED, "kept", True)


async def test_positions_count_the_waiting_and_move_up(sessions):
    first, second, third = [await sessions.create(SessionWish(task=str(n))) for n in range(3)]
    await sessions.stop(second.id)
    assert [(await sessions.find(one.id)).queue_position for one in (first, second, third)] == [1, None, 2]


async def test_a_deleted_session_is_gone_for_every_call(sessions):
    session = await sessions.create(SessionWish(task="one"))
    await sessions.delete(session.id)
    calls = (
        sessions.find(session.id),
        sessions.stop(session.id),
        sessions.delete(session.id),
        sessions.list_runs(session.id),
        sessions.read_events(session.id),
        sessions.create(SessionWish(task="two", session_id=session.id)),
    )
    for call in calls:
        with pytest.raises(NotFound):
            await call
    assert (await sessions.list_page()).total == 0


async def test_cursors_that_fit_no_event_are_refused(sessions):
    session = await sessions.create(SessionWish(task="one"))
    with pytest.raises(RequestRefused):
        await sessions.read_events(session.id, after=uuid4())
    with pytest.raises(RequestRefused):
        await sessions.read_events(session.id, after=uuid4(), before=uuid4())


async def test_readers_are_woken_by_what_happens_to_a_session(sessions, equipment):
    session = await sessions.create(SessionWish(task="one"))
    async with equipment.hub.watch(session.id) as watch:
        await sessions.stop(session.id)
        assert await watch.wait(1)


async def test_domains_and_secrets_stay_until_something_else_is_said(sessions, equipment):
    session = await sessions.create(
        SessionWish(
            task="Sign in with hunter-22.",
            keep_alive=True,
            allowed_domains=("GOOD.test.", "*.good.test", "good.test"),
            sensitive_data={"good.test": {"pw": "hunter-22"}},
        )
    )
    assert session.allowed_domains == ("good.test", "*.good.test")
    assert "hunter" not in session.sensitive_data
    assert equipment.seal.open(session.sensitive_data) == {"good.test": {"pw": "hunter-22"}}
    assert [run.task for run in await sessions.list_runs(session.id)] == ["Sign in with <secret>pw</secret>."]
    assert session.title == "Sign in with <secret>pw</secret>."
    await _end_run(equipment, session)
    followed = await sessions.create(SessionWish(task="And hunter-22?", session_id=session.id))
    assert (followed.allowed_domains, followed.sensitive_data) == (session.allowed_domains, session.sensitive_data)
    assert [run.task for run in await sessions.list_runs(session.id)][1] == "And <secret>pw</secret>?"
    await _end_run(equipment, session)
    cleared = await sessions.create(SessionWish(task="x", session_id=session.id, allowed_domains=(), sensitive_data={}))
    assert (cleared.allowed_domains, cleared.sensitive_data) == ((), None)


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"allowed_domains": ("https://good.test/login",)}, "allowedDomains"),
        ({"sensitive_data": {"good.test": {"pw": "x"}}}, "sensitiveData"),
        ({"sensitive_data": {"*": {"pw": "xyz123"}}}, "sensitiveData"),
    ],
)
async def test_domains_and_secrets_that_cannot_be_kept_are_refused_by_name(sessions, wish, field):
    with pytest.raises(RequestInvalid, match=field) as refusal:
        await sessions.create(SessionWish(task="t", **wish))
    assert refusal.value.location == ("body", field)
    assert "xyz123" not in refusal.value.message


async def test_secrets_sealed_with_another_key_have_to_be_sent_again(sessions, equipment):
    session = await sessions.create(SessionWish(task="one", sensitive_data={"pw": "hunter-22"}))
    await _end_run(equipment, session)
    other = Sessions(
        equipment.database, equipment.hub, Dispatcher(equipment), ModelRules(equipment.keys), Seal(b"another secret")
    )
    with pytest.raises(Conflict, match="send sensitiveData again"):
        await other.create(SessionWish(task="two", session_id=session.id))
    again = await other.create(SessionWish(task="two", session_id=session.id, sensitive_data={"pw": "hunter-23"}))
    assert Seal(b"another secret").open(again.sensitive_data) == {"pw": "hunter-23"}


ENDED = [SessionStatus.STOPPED, SessionStatus.ERROR, SessionStatus.TIMED_OUT]


@pytest.mark.parametrize("status", ENDED)
async def test_a_conversation_goes_on_after_its_browser_is_gone(sessions, equipment, status):
    session = await sessions.create(SessionWish(task="one", keep_alive=True))
    await _end_run(equipment, session, status, output="old")
    follow_up = await sessions.create(SessionWish(task="two", session_id=session.id))
    assert (follow_up.status, follow_up.queue_position, follow_up.output) == (SessionStatus.CREATED, 1, None)


@pytest.mark.parametrize("status", [SessionStatus.IDLE, *ENDED])
async def test_a_conversation_that_was_stopped_on_purpose_is_over(sessions, equipment, status):
    session = await sessions.create(SessionWish(task="one", keep_alive=True))
    await _end_run(equipment, session, status, output="kept")
    stopped = await sessions.stop(session.id)
    assert (stopped.is_closed, stopped.output) == (True, "kept")
    with pytest.raises(Conflict, match="ended"):
        await sessions.create(SessionWish(task="two", session_id=session.id))


async def test_of_two_follow_ups_at_once_one_is_taken_and_one_told_that_it_is_busy(sessions, equipment):
    session = await sessions.create(SessionWish(task="one", keep_alive=True))
    await _end_run(equipment, session)
    wishes = [SessionWish(task=task, session_id=session.id) for task in ("two", "three")]
    taken = await asyncio.gather(*map(sessions.create, wishes), return_exceptions=True)
    assert sorted(type(one).__name__ for one in taken) == ["Conflict", "SessionRecord"]
    assert len(await sessions.list_runs(session.id)) == 2


async def _spend(equipment, session, amount):
    charge = Charge(Purpose.STEP, "m", cost_usd=Decimal(amount))

    async def write(transaction):
        run = await find_latest_run(transaction, session.id)
        await add_charges(transaction, session.id, run.id, [charge])

    await equipment.database.writer.submit(write)


async def test_each_task_of_a_conversation_gets_the_first_cap_again_beyond_what_was_spent(sessions, equipment):
    session = await sessions.create(SessionWish(task="one", keep_alive=True, max_cost_usd=Decimal("0.5")))
    await _spend(equipment, session, "0.123456")
    await _end_run(equipment, session)
    follow_up = await sessions.create(SessionWish(task="two", session_id=session.id))
    assert follow_up.max_cost_usd == Decimal("0.63")
    await _end_run(equipment, session)
    named = await sessions.create(SessionWish(task="three", session_id=session.id, max_cost_usd=Decimal("0.2")))
    assert named.max_cost_usd == Decimal("0.2")
    await _end_run(equipment, session)
    assert (await sessions.create(SessionWish(task="four", session_id=session.id))).max_cost_usd == Decimal("0.63")


async def test_the_first_task_of_a_session_made_empty_sets_what_each_later_one_gets(sessions, equipment):
    session = await sessions.create(SessionWish(keep_alive=True))
    await sessions.create(SessionWish(task="one", session_id=session.id, max_cost_usd=Decimal(1)))
    await _spend(equipment, session, "0.7")
    await _end_run(equipment, session)
    assert (await sessions.create(SessionWish(task="two", session_id=session.id))).max_cost_usd == Decimal("1.7")


async def test_a_session_that_is_not_kept_alive_keeps_its_cap(sessions, equipment):
    session = await sessions.create(SessionWish(task="one", max_cost_usd=Decimal("0.5")))
    await _spend(equipment, session, "0.4")
    await _end_run(equipment, session)
    assert (await sessions.create(SessionWish(task="two", session_id=session.id))).max_cost_usd == Decimal("0.5")


async def test_caps_written_for_other_prices_are_scaled_and_rounded_up_to_the_cent(sessions, equipment):
    rules = ModelRules(equipment.keys, cost_factor=Decimal("0.3"))
    scaling = Sessions(equipment.database, equipment.hub, Dispatcher(equipment), rules, equipment.seal)
    session = await scaling.create(SessionWish(task="one", keep_alive=True, max_cost_usd=Decimal("0.55")))
    assert session.max_cost_usd == Decimal("0.17")
    await _end_run(equipment, session)
    assert (await scaling.create(SessionWish(task="2", session_id=session.id))).max_cost_usd == Decimal("0.17")
