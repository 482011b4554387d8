from dataclasses import replace
from decimal import Decimal

import pytest

from appliance.agent.outcome import Outcome
from appliance.errors import NotFound
from appliance.events import ActionFinished, Notice, Reviewed, RunFinished, StepPlanned, TokenCount
from appliance.models.catalog import find_entry
from appliance.persistence.runs import find_latest_run
from appliance.persistence.steps import list_steps
from appliance.runtime.agents import assign
from appliance.runtime.settling import Tally, settle
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, FailureKind, ReceiptStatus, SessionStatus

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
    return Tally(equipment, run, find_entry("claude-sonnet-5"))


def _step(tokens):
    return StepPlanned(
        step=1, see="s", plan="p", move="Next.", calls=(), url="u", title="t", tokens=tokens, screenshot="1.jpg"
    )


async def test_a_review_adds_to_what_the_session_spent(sessions, session, tally):
    await tally.emit(Reviewed(verdict=True, text="Right.", tokens=TokenCount(input=1_000_000, output=7)))
    await tally.flush()
    spent = await sessions.find(session.id)
    assert (spent.tokens.input, spent.tokens.output) == (1_000_000, 7)
    assert spent.cost_usd > 0


def _solved(cost):
    return ActionFinished(
        step=1, call_id="c", name="solve_captcha", status=ReceiptStatus.OK, text="x", duration_ms=1, cost_usd=cost
    )


async def test_what_a_service_cost_is_in_the_totals_of_the_session_and_of_its_step(
    equipment, sessions, session, run, tally
):
    await tally.emit(_step(TokenCount(input=1_000_000)))
    await tally.flush()
    model_alone = (await sessions.find(session.id)).cost_usd
    await tally.emit(_solved(Decimal("0.0008")))
    await tally.flush()
    spent = await sessions.find(session.id)
    assert (spent.cost_usd, spent.services_usd) == (model_alone + Decimal("0.0008"), Decimal("0.0008"))
    async with equipment.database.read() as transaction:
        (step,) = await list_steps(transaction, run.id)
    assert step.cost_usd == spent.cost_usd


async def test_what_a_service_cost_in_a_step_that_was_cut_off_is_counted_at_the_end(
    equipment, sessions, session, run, tally
):
    await tally.emit(_solved(Decimal("0.001")))
    await tally.flush()
    outcome = replace(DELIVERED, tokens=TokenCount(), services_usd=Decimal("0.003"))

    async def write(transaction):
        await settle(transaction, run, outcome, SessionStatus.IDLE, tally.untold(outcome))

    await equipment.database.writer.submit(write)
    spent = await sessions.find(session.id)
    assert (spent.cost_usd, spent.services_usd) == (Decimal("0.003"), Decimal("0.003"))


async def test_an_assignment_is_reviewed_as_the_setting_says(session, run):
    assert assign(session, run, ()).is_reviewed
    assert not assign(session, run, (), is_reviewed=False).is_reviewed


async def test_steps_and_actions_add_up_in_the_session_with_their_price(sessions, session, tally):
    await tally.emit(_step(TokenCount(input=1_000_000)))
    await tally.flush()
    one_step = await sessions.find(session.id)
    finished = ActionFinished(
        step=1, call_id="c", name="extract", status=ReceiptStatus.OK, text="x", duration_ms=1,
        tokens=TokenCount(input=1_000_000),
    )  # fmt: skip
    await tally.emit(finished)
    await tally.flush()
    both = await sessions.find(session.id)
    assert (both.step_count, both.tokens.input, both.last_step_summary) == (1, 2_000_000, "Next.")
    assert both.screenshot == "1.jpg"
    assert one_step.cost_usd > 0
    assert both.cost_usd == 2 * one_step.cost_usd


async def test_events_stand_in_the_feed_in_the_order_in_which_they_were_told(sessions, session, tally):
    for number in range(20):
        await tally.emit(Notice(code="counted", text=str(number)))
    await tally.flush()
    events = (await sessions.read_events(session.id, limit=20)).events
    assert [record.event.text for record in events] == [str(number) for number in range(20)]


async def test_an_event_that_could_not_be_written_is_told_with_the_next(sessions, session, tally):
    await sessions.delete(session.id)
    await tally.emit(_step(TokenCount(input=1_000)))
    with pytest.raises(NotFound):
        await tally.emit(Notice(code="after", text="x"))
    await tally.flush()
    assert tally.tokens == TokenCount()


async def test_what_a_cut_off_step_spent_is_added_at_the_end(sessions, session, equipment, run, tally):
    await tally.emit(_step(TokenCount(input=1_000)))
    await tally.flush()
    before = await sessions.find(session.id)

    async def write(transaction):
        await settle(transaction, run, DELIVERED, SessionStatus.IDLE, tally.untold(DELIVERED))

    await equipment.database.writer.submit(write)
    after = await sessions.find(session.id)
    assert (after.tokens.input, after.tokens.output) == (1_500, 10)
    assert after.cost_usd > before.cost_usd


async def test_session_run_and_feed_tell_the_same_ending(sessions, session, equipment, run, tally):
    outcome = replace(
        DELIVERED, ending=Ending.BUDGET_SPENT, failure=FailureKind.BUDGET_EXCEEDED, status_code=None, summary="Spent."
    )

    async def write(transaction):
        await settle(transaction, run, outcome, SessionStatus.IDLE, tally.untold(outcome))

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
        await settle(transaction, run, outcome, SessionStatus.IDLE, {})

    await equipment.database.writer.submit(write)
    told, ended = [record.event for record in (await sessions.read_events(session.id)).events[-2:]]
    assert told == notice
    assert isinstance(ended, RunFinished)
    assert await sessions.find_provenance(session.id) == sources
    assert await sessions.list_provenance(session.id) == {run.id: sources}
    assert (await sessions.list_runs(session.id))[0].output == {"n": 1}
