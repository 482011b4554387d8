import asyncio
import threading
from dataclasses import replace
from decimal import Decimal

import pytest

from appliance.agent.outcome import Outcome
from appliance.errors import NotFound
from appliance.events import ActionFinished, Charge, Notice, Reviewed, RunFinished, StepPlanned, TokenCount, cost_of
from appliance.persistence.ledger import list_charges
from appliance.persistence.runs import find_latest_run
from appliance.persistence.sessions import delete_session
from appliance.persistence.steps import list_steps
from appliance.runtime.agents import assign
from appliance.runtime.settling import Settlement, Tally, await_late, settle
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, FailureKind, Purpose, ReceiptStatus, RunStatus, SessionStatus

DELIVERED = Outcome(
    ending=Ending.DONE,
    output={"n": 1},
    is_successful=True,
    failure=None,
    status_code=None,
    summary="Done.",
    steps=1,
    tokens=TokenCount(input=1_500, output=10),
    cost_usd=None,
)


@pytest.fixture
async def session(sessions):
    return await sessions.create(SessionWish(task="t", model="claude-sonnet-5", keep_alive=True))


@pytest.fixture
async def run(equipment, session):
    async with equipment.database.read() as transaction:
        return await find_latest_run(transaction, session.id)


@pytest.fixture
def tally(equipment, run):
    return Tally(equipment, run)


def _step():
    return StepPlanned(
        step=1, see="s", plan="p", move="Next.", calls=(), url="u", title="t", tokens=TokenCount(), screenshot="1.jpg"
    )


def _charge(purpose, tokens=0, cost="0.01"):
    return Charge(purpose, "claude-sonnet-5", TokenCount(input=tokens), Decimal(cost))


async def test_a_review_adds_to_what_the_session_spent(sessions, session, tally):
    await tally.emit(Reviewed(verdict=True, text="Right."), (_charge(Purpose.REVIEW, 70, "0.000021"),))
    await tally.flush()
    spent = await sessions.find(session.id)
    assert (spent.tokens.input, spent.cost_usd) == (70, Decimal("0.000021"))


def _solved():
    return ActionFinished(
        step=1, call_id="c", name="solve_captcha", status=ReceiptStatus.OK, text="x", duration_ms=1
    )  # fmt: skip


CAPTCHA = Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("0.0008"))


async def test_what_a_service_cost_is_in_the_totals_of_the_session_of_its_run_and_of_its_step(
    equipment, sessions, session, run, tally
):
    await tally.emit(_step(), (_charge(Purpose.STEP, 1000),))
    await tally.emit(_solved(), (CAPTCHA,))
    await tally.flush()
    spent = await sessions.find(session.id)
    (same,) = await sessions.list_runs(session.id)
    assert spent.cost_usd == same.cost_usd == Decimal("0.0108")
    assert spent.services_usd == same.services_usd == Decimal("0.0008")
    assert (same.step_count, same.tokens) == (1, TokenCount(input=1000))
    async with equipment.database.read() as transaction:
        (step,) = await list_steps(transaction, run.id)
    assert step.cost_usd == spent.cost_usd


async def test_an_assignment_is_reviewed_as_the_setting_says(session, run):
    assert assign(session, run, ()).is_reviewed
    assert not assign(session, run, (), is_reviewed=False).is_reviewed


async def test_steps_and_actions_add_up_in_the_session_with_their_price(sessions, session, tally):
    await tally.emit(_step(), (_charge(Purpose.COMPACTION, 5), _charge(Purpose.STEP, 10)))
    await tally.emit(_solved(), (_charge(Purpose.ACTION, 10),))
    await tally.flush()
    both = await sessions.find(session.id)
    assert (both.step_count, both.tokens.input, both.last_step_summary) == (1, 25, "Next.")
    assert both.screenshot == "1.jpg"
    assert both.cost_usd == Decimal("0.03")


async def test_what_has_no_known_price_makes_the_cost_of_its_step_unknown(equipment, sessions, session, run, tally):
    await tally.emit(_step(), (Charge(Purpose.STEP, "own", TokenCount(5), None), _charge(Purpose.GOAL)))
    await tally.flush()
    async with equipment.database.read() as transaction:
        (step,) = await list_steps(transaction, run.id)
    assert step.cost_usd is None
    assert (await sessions.find(session.id)).cost_usd == Decimal("0.01")


async def test_events_stand_in_the_feed_in_the_order_in_which_they_were_told(sessions, session, tally):
    for number in range(20):
        await tally.emit(Notice(code="counted", text=str(number)))
    await tally.flush()
    events = (await sessions.read_events(session.id, limit=20)).events
    assert [record.event.text for record in events] == [str(number) for number in range(20)]


async def test_what_is_charged_waits_for_the_charge_before_it_and_what_is_not_does_not(equipment, tally):
    begun, go_on = threading.Event(), threading.Event()

    async def hold_up(_transaction):
        begun.set()
        go_on.wait(60)

    held_up = asyncio.create_task(equipment.database.writer.submit(hold_up))
    await asyncio.to_thread(begun.wait, 60)
    await tally.emit(_step(), (_charge(Purpose.STEP, 10),))
    await tally.emit(Notice(code="counted", text="1"))
    charging = asyncio.create_task(tally.emit(_solved(), (CAPTCHA,)))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not charging.done()
    assert tally.untold((CAPTCHA,)) == (CAPTCHA,)
    go_on.set()
    await held_up
    await charging
    await tally.flush()
    assert tally.untold((CAPTCHA,)) == ()


async def test_events_told_from_several_places_at_once_are_all_written_once(sessions, session, tally):
    charges = [_charge(Purpose.STEP, number) for number in range(1, 41)]

    async def tell(number: int) -> None:
        await tally.emit(Notice(code="counted", text=str(number)), (charges[number],))

    await asyncio.gather(*map(tell, range(40)))
    await tally.flush()
    events = (await sessions.read_events(session.id, limit=100)).events
    assert len(events) == 40 + len([one for one in events if not isinstance(one.event, Notice)])
    assert tally.untold(tuple(charges)) == ()


async def test_an_event_that_could_not_be_written_is_told_with_one_of_the_next(sessions, session, tally):
    await sessions.delete(session.id)
    charge = _charge(Purpose.STEP, 1_000)
    await tally.emit(_step(), (charge,))
    with pytest.raises(NotFound):
        for _ in range(10):
            await tally.emit(Notice(code="after", text="x"))
    await tally.flush()
    assert tally.untold((charge,)) == (charge,)


async def test_what_no_event_told_of_is_charged_with_the_ending(sessions, session, equipment, run, tally):
    told, same, other = _charge(Purpose.STEP, 10), _charge(Purpose.STEP, 10), _charge(Purpose.REVIEW, 7)
    await tally.emit(_step(), (told,))
    await tally.flush()
    untold = tally.untold((told, same, other))
    assert sorted(untold, key=lambda one: one.purpose) == [other, same]

    async def write(transaction):
        await settle(transaction, run, DELIVERED, SessionStatus.IDLE, untold)

    await equipment.database.writer.submit(write)
    after = await sessions.find(session.id)
    assert (after.tokens.input, after.cost_usd) == (27, Decimal("0.03"))
    async with equipment.database.read() as transaction:
        assert cost_of(row.charge for row in await list_charges(transaction, session.id)) == after.cost_usd
    assert (await sessions.list_runs(session.id))[0].cost_usd == after.cost_usd


async def test_session_run_and_feed_tell_the_same_ending(sessions, session, equipment, run, tally):
    outcome = replace(
        DELIVERED, ending=Ending.BUDGET_SPENT, failure=FailureKind.BUDGET_EXCEEDED, status_code=None, summary="Spent."
    )

    async def write(transaction):
        await settle(transaction, run, outcome, SessionStatus.IDLE, ())

    await equipment.database.writer.submit(write)
    settled = await sessions.find(session.id)
    (ended,) = await sessions.list_runs(session.id)
    event = (await sessions.read_events(session.id)).events[-1].event
    assert isinstance(event, RunFinished)
    assert settled.output == ended.output == event.output == {"n": 1}
    assert settled.failure == ended.failure == event.failure == FailureKind.BUDGET_EXCEEDED
    assert settled.is_successful is ended.is_successful is event.is_successful is True
    assert ended.ending == event.ending == Ending.BUDGET_SPENT
    assert settled.last_step_summary == event.summary == "Spent."


async def test_a_run_may_spend_what_is_left_of_the_sessions_money(session, run):
    spent = replace(session, max_cost_usd=Decimal("0.50"), cost_usd=Decimal("0.20"))
    assert assign(spent, run, ()).max_cost_usd == Decimal("0.30")
    assert assign(replace(spent, cost_usd=Decimal(9)), run, ()).max_cost_usd == 0
    assert assign(session, run, ()).max_cost_usd is None


async def test_earlier_turns_are_given_with_their_answers(session, run):
    answered = replace(run, number=1, task="one", output={"a": "ü"})
    failed = replace(run, number=2, task="two", output=None, ending=Ending.TIMED_OUT)
    turns = assign(session, run, (answered, failed)).earlier
    assert [turn.task for turn in turns] == ["one", "two"]
    assert turns[0].answer == '{"a": "ü"}'
    assert "timed_out" in turns[1].answer


async def test_the_feed_is_told_what_is_handed_over_before_it_is_told_the_ending(sessions, session, equipment, run):
    sources = {"/n": {"status": "unseen"}}
    notice = Notice(code="store_delivered", text="What was in the answer store is delivered.")
    outcome = replace(DELIVERED, ending=Ending.STEPS_SPENT, notice=notice, provenance=sources)

    async def write(transaction):
        await settle(transaction, run, outcome, SessionStatus.IDLE, ())

    await equipment.database.writer.submit(write)
    told, ended = [record.event for record in (await sessions.read_events(session.id)).events[-2:]]
    assert told == notice
    assert isinstance(ended, RunFinished)
    assert await sessions.find_provenance(session.id) == sources
    assert await sessions.list_provenance(session.id) == {run.id: sources}
    assert (await sessions.list_runs(session.id))[0].output == {"n": 1}


async def test_what_is_charged_after_a_run_was_settled_is_written_once_all_the_same(
    sessions, session, equipment, run, tally
):
    goal, step, late = _charge(Purpose.GOAL, 1), _charge(Purpose.STEP, 10), _charge(Purpose.STEP, 100)
    charges, is_answered = [goal], asyncio.Event()

    async def call() -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await is_answered.wait()  # a provider that does not let go
            charges.append(late)
        return DELIVERED

    calling = asyncio.create_task(call())
    await asyncio.sleep(0)
    calling.cancel()
    await tally.emit(_step(), (goal,))
    charges.append(step)
    settlement = Settlement(equipment.database, run, DELIVERED, SessionStatus.IDLE)
    settlement.charge(tally, lambda: charges)
    assert await settlement.write(None)
    assert not await settlement.write_late(), "nothing is missing yet"
    is_answered.set()
    await await_late([calling], 60, "the run")
    for has_more in (True, False):
        assert await settlement.write_late() is has_more
    after = await sessions.find(session.id)
    assert (after.tokens.input, after.cost_usd) == (111, Decimal("0.03"))
    async with equipment.database.read() as transaction:
        rows = await list_charges(transaction, session.id)
    assert [row.charge for row in rows] == [goal, step, late]
    assert (await sessions.list_runs(session.id))[0].cost_usd == after.cost_usd


async def test_a_run_that_somebody_else_ended_is_charged_and_its_ending_stays(sessions, session, equipment, run, tally):
    await sessions.stop(session.id)
    settlement = Settlement(equipment.database, run, DELIVERED, SessionStatus.IDLE)
    settlement.charge(tally, lambda: [_charge(Purpose.STEP, 10)])
    assert not await settlement.write(None)
    after = await sessions.find(session.id)
    assert (after.status, after.output, after.cost_usd) == (SessionStatus.STOPPED, None, Decimal("0.01"))
    assert (await sessions.list_runs(session.id))[0].ending is Ending.STOPPED


async def test_a_run_of_a_deleted_session_is_charged_and_over(sessions, session, equipment, run, tally):
    async def delete(transaction):
        await delete_session(transaction, session.id)

    await equipment.database.writer.submit(delete)
    settlement = Settlement(equipment.database, run, DELIVERED, SessionStatus.IDLE)
    settlement.charge(tally, lambda: [_charge(Purpose.STEP, 10)])
    assert not await settlement.write(None)
    async with equipment.database.read() as transaction:
        found = await find_latest_run(transaction, session.id)
    assert (found.status, found.ending, found.cost_usd) == (RunStatus.ENDED, Ending.DONE, Decimal("0.01"))
