import asyncio
import json
from decimal import Decimal

import pytest

from appliance.agent.assignment import EarlierTurn
from appliance.agent.recorded import load
from appliance.events import ActionFinished, GoalStated, Reviewed, StepPlanned, TokenCount
from appliance.words import Ending, FailureKind, ReceiptStatus
from tests.appliance.agent.conftest import Finish, Prepare, a_dollar_per_million

WRITE = {"write_file": {"file_name": "notes.md", "content": "a"}}
READ = {"read_file": {"file_name": "notes.md"}}
MISSING = {"read_file": {"file_name": "missing.md"}}
DONE = {"done": {"text": "It is done."}}
PRICE_SCHEMA = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}


def changing(step: int) -> dict[str, object]:
    """An action that is never the same twice."""
    return {"write_file": {"file_name": f"{step}.md", "content": str(step)}}


@pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])
async def test_a_run_works_through_its_steps_and_hands_in_an_answer(finish: Finish, provider: str):
    outcome, work = await finish([[WRITE, READ], DONE], provider=provider)
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.DONE, "It is done.", True)
    assert outcome.failure is None
    assert outcome.steps == 2
    assert [plan.step for plan in work.plans] == [1, 2]
    assert [(receipt.name, receipt.status) for receipt in work.receipts] == [
        ("write_file", ReceiptStatus.OK),
        ("read_file", ReceiptStatus.OK),
        ("done", ReceiptStatus.OK),
    ]
    assert [receipt.call_id for receipt in work.receipts] == [
        call.call_id for plan in work.plans for call in plan.calls
    ]


async def test_tokens_and_cost_of_a_run_are_those_of_its_steps(finish: Finish):
    usage = {"input": 1000, "cache_read": 200, "cache_write": 100, "output": 50}
    outcome, work = await finish([{"reply": WRITE, "__usage__": usage}, {"reply": DONE, "__usage__": usage}])
    (goal,), (review,) = work.of(GoalStated), work.of(Reviewed)
    assert work.plans[0].tokens == work.plans[1].tokens == TokenCount(1000, 200, 100, 50)
    assert outcome.tokens == goal.tokens + work.plans[0].tokens + work.plans[1].tokens + review.tokens
    assert outcome.cost_usd == a_dollar_per_million(outcome.tokens)


async def test_the_prompt_prefix_of_a_step_starts_with_the_bytes_of_the_step_before(finish: Finish):
    _, work = await finish([*(changing(step) for step in range(5)), DONE])
    before = ""
    for request in work.asked:
        system, parts = request.body["system"], request.body["messages"][0]["content"]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        prefix = json.dumps(request.body["tools"]) + system[0]["text"] + "".join(texts[:-1])
        assert prefix.startswith(before)
        assert len(prefix) > len(before)
        assert "<page>" in prefix
        before = prefix


async def test_a_long_text_is_shown_once_and_what_happened_stays(finish: Finish):
    _, work = await finish([WRITE | {}, READ, changing(1), DONE])
    shown = [request.text for request in work.asked]
    assert ["<read_once>\na\n" in text for text in shown] == [False, False, True, False]
    assert "- read_file" in shown[3]


async def test_a_reply_without_action_is_asked_again_naming_the_defect(finish: Finish):
    outcome, work = await finish(["{}", DONE])
    assert outcome.is_successful
    assert outcome.steps == 1
    assert work.notices == ["reply_repaired"]
    assert "no `action`" in work.asked[1].text
    assert work.asked[1].body["messages"][-1]["role"] == "user"
    assert work.recorded.steps[0].answered is not None
    assert len(work.recorded.steps[0].answered.rejected) == 1


async def test_an_unknown_action_is_asked_again_naming_a_near_one(finish: Finish):
    outcome, work = await finish([{"raed_file": {"file_name": "a"}}, DONE])
    assert outcome.is_successful
    assert "did you mean read_file" in work.asked[1].text


@pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])
async def test_a_reply_cut_off_for_its_length_is_asked_once_more_with_room_and_streamed(finish: Finish, provider: str):
    outcome, work = await finish([{"reply": WRITE, "__truncated__": 60}, DONE], provider=provider)
    assert outcome.is_successful
    first, second = (request.body for request in work.asked)
    assert "stream" not in first or not first["stream"]
    assert second["stream"] is True
    assert second.get("max_tokens", 0) == 64_000 or provider != "anthropic"
    assert work.asked[0].texts == work.asked[1].texts


@pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])
async def test_a_model_that_answers_nonsense_ends_the_run_as_invalid_output(finish: Finish, provider: str):
    outcome, work = await finish(["I like turtles."], provider=provider)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.INVALID_OUTPUT)
    assert not outcome.is_successful
    assert len(work.asked) == 3
    assert outcome.tokens.input > 0


async def test_a_chain_stops_at_the_first_action_that_fails_and_tells_of_the_rest(finish: Finish):
    _, work = await finish([[WRITE, MISSING, READ], DONE])
    statuses = [receipt.status for receipt in work.receipts[:3]]
    assert statuses == [ReceiptStatus.OK, ReceiptStatus.FAILED, ReceiptStatus.SKIPPED]
    assert "- read_file: skipped" in work.asked[1].text


async def test_a_wrong_call_in_the_middle_of_a_chain_becomes_a_receipt(finish: Finish):
    _, work = await finish([[WRITE, {"fly": {"to": "moon"}}, READ], DONE])
    assert [receipt.status for receipt in work.receipts[:3]] == [
        ReceiptStatus.OK,
        ReceiptStatus.FAILED,
        ReceiptStatus.SKIPPED,
    ]
    assert "There is no action 'fly'" in work.asked[1].text


async def test_an_answer_behind_a_failed_action_is_not_handed_in(finish: Finish):
    outcome, work = await finish([[MISSING, DONE], {"done": {"text": "Now it is."}}])
    assert outcome.output == "Now it is."
    assert work.receipts[1].status is ReceiptStatus.SKIPPED


async def test_an_answer_of_the_wrong_form_is_sent_back_with_what_is_wrong(finish: Finish):
    wrong, right = {"done": {"text": '{"price": "3"}'}}, {"done": {"text": '{"price": 3}'}}
    outcome, work = await finish([wrong, right], output_schema=PRICE_SCHEMA)
    assert outcome.output == {"price": 3}
    assert outcome.is_successful
    assert "price" in work.receipts[0].text
    assert work.receipts[0].status is ReceiptStatus.FAILED


async def test_a_run_that_spends_its_steps_gets_one_delivery_turn(finish: Finish):
    outcome, work = await finish([changing(1), changing(2), {"done": {"text": "Half.", "success": False}}], max_steps=3)
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.DONE, "Half.", True)
    assert outcome.steps == 3
    assert work.notices == ["delivery_turn"]
    assert "Nothing but done is accepted now" in work.asked[2].text
    assert "steps are used up" in outcome.summary


async def test_a_run_that_does_not_deliver_in_that_turn_has_spent_its_steps(finish: Finish):
    outcome, work = await finish([WRITE], max_steps=2)
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.STEPS_SPENT, None, False)
    assert len(work.asked) == 3
    assert [receipt.name for receipt in work.receipts] == ["write_file"]


async def test_a_delivered_answer_of_the_wrong_form_may_be_corrected_once(finish: Finish):
    wrong, right = {"done": {"text": "no"}}, {"done": {"text": '{"price": 3}'}}
    outcome, _ = await finish([WRITE, wrong, right], max_steps=2, output_schema=PRICE_SCHEMA)
    assert outcome.output == {"price": 3}
    outcome, _ = await finish([WRITE, wrong, wrong], max_steps=2, output_schema=PRICE_SCHEMA)
    assert (outcome.ending, outcome.output) == (Ending.STEPS_SPENT, None)


async def test_a_run_near_its_cap_delivers_and_is_told_to_be_over_budget(finish: Finish):
    cent = {"input": 10_000}
    steps = [{"reply": changing(step), "__usage__": cent} for step in range(3)]
    outcome, work = await finish([*steps, {"reply": DONE, "__usage__": cent}], max_cost_usd=Decimal("0.045"))
    assert (outcome.ending, outcome.failure) == (Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED)
    assert (outcome.output, outcome.is_successful) == ("It is done.", True)
    assert outcome.cost_usd is not None
    assert outcome.cost_usd <= Decimal("0.045")
    assert work.notices == ["delivery_turn"]


async def test_a_cap_that_is_used_up_ends_the_run_without_another_call(finish: Finish):
    outcome, work = await finish([{"reply": WRITE, "__usage__": {"input": 10_000}}], max_cost_usd=Decimal("0.008"))
    assert (outcome.ending, outcome.failure) == (Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED)
    assert (outcome.output, outcome.is_successful) == (None, False)
    assert len(work.asked) == 1


async def test_a_run_past_its_time_is_timed_out(finish: Finish):
    outcome, work = await finish([{"__hang__": 20}], timeout=0.8)
    assert (outcome.ending, outcome.failure) == (Ending.TIMED_OUT, FailureKind.SESSION_TIMEOUT)
    assert not outcome.is_successful
    assert work.recorded.closed is not None


@pytest.mark.parametrize(
    ("failure", "kind", "status"),
    [
        ({"__http__": 429, "retry_after": 3600}, FailureKind.PROVIDER_RATE_LIMIT, 429),
        ({"__http__": 500}, FailureKind.PROVIDER_SERVER_ERROR, 500),
        ({"__http__": 400}, FailureKind.PROVIDER_ERROR, 400),
        ({"__drop__": True}, FailureKind.PROVIDER_CONNECTION_ERROR, None),
    ],
)
async def test_a_provider_fault_keeps_its_kind_and_status(
    finish: Finish, failure: dict[str, object], kind: FailureKind, status: int | None
):
    outcome, work = await finish([WRITE, failure])
    assert (outcome.ending, outcome.failure, outcome.status_code) == (Ending.FAILED, kind, status)
    assert outcome.steps == 2
    assert work.recorded.steps[1].answered is None
    assert work.recorded.steps[1].closed is not None
    assert work.recorded.steps[1].closed.trouble


async def test_a_stopped_run_tells_what_it_has_done(prepare: Prepare):
    work = prepare([WRITE, {"__hang__": True}])
    running = asyncio.create_task(work.agent.run())
    await work.until(lambda event: isinstance(event, ActionFinished))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    outcome = work.agent.outcome_so_far()
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.STOPPED, None, False)
    assert outcome.tokens.input > work.plans[0].tokens.input
    assert work.recorded.closed is not None
    assert work.recorded.closed.ending is Ending.STOPPED


async def test_an_action_that_a_stop_interrupts_is_recorded_as_of_unknown_effect(prepare: Prepare):
    work = prepare([[{"wait_for": {"text": "never there", "seconds": 20}}, READ]])
    running = asyncio.create_task(work.agent.run())
    await work.until(lambda event: isinstance(event, StepPlanned))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (step,) = work.recorded.steps
    assert step.closed is not None
    assert [receipt.status for receipt in step.closed.receipts] == [ReceiptStatus.FAILED, ReceiptStatus.SKIPPED]


async def test_the_record_holds_each_request_reply_and_receipt(finish: Finish):
    _, work = await finish([WRITE, DONE])
    run = work.recorded
    assert [step.asked.step for step in run.steps] == [1, 2]
    for step, request in zip(run.steps, work.asked, strict=True):
        for text in request.texts:
            assert text in step.asked.request
        assert step.answered is not None
        assert step.closed is not None
        assert step.closed.receipts[0].call_id == step.answered.calls[0].call_id
    assert run.closed is not None
    assert run.closed.output == "It is done."


async def test_a_record_that_cannot_be_written_ends_the_run_with_the_reason(prepare: Prepare):
    work = prepare([DONE])
    (work.folder / "history.json").mkdir()
    outcome = await work.agent.run()
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert "record of the run cannot be written" in outcome.summary


async def test_a_follow_up_is_told_of_the_turns_before_it_and_recorded_behind_them(finish: Finish, prepare: Prepare):
    await finish([DONE])
    _, work = await finish([DONE], earlier=(EarlierTurn("Find shoes", "Found red ones."),), task="And the price?")
    assert "Found red ones." in work.asked[0].text
    assert len(load(work.folder / "history.json")) == 2


async def test_a_prompt_on_an_ordinary_page_stays_small(finish: Finish):
    _, work = await finish([*(changing(step) for step in range(40)), DONE])
    assert max(len(request.text) for request in work.asked) <= 20_000
