import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance.agent.recorded import load
from appliance.browser.connection import Browser
from appliance.events import ActionFinished, FeedEvent, StepPlanned, TokenCount
from appliance.sensitive import SensitiveData
from appliance.words import Completion, Ending, FailureKind
from tests.appliance.agent.conftest import Finish, open_model_of
from tests.appliance.agent.replaying import Stage
from tests.site import Site
from tests.stand_in import StandIn

DONE = {"done": {"text": "The red mug is in the basket."}}


@pytest.fixture
def stage(browser: Browser, site: Site, tmp_path: Path) -> Stage:
    return Stage(browser, site, tmp_path)


def shopping(site: Site, *then: Any) -> list[Any]:
    return [{"navigate": {"url": site.url("/replay_shop.html")}}, *then, DONE]


ADD_RED = {"click": {"index": {"text": "Add", "nth": 2}}}
SAVE = [{"input": {"index": {"label": "E-mail"}, "text": "ada@example.com"}}, {"click": {"index": {"text": "Save"}}}]


async def test_a_run_is_done_again_without_a_model_and_delivers_its_answer(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED, SAVE))
    again = await stage.again(work.recorded)
    assert again.outcome.ending is Ending.DONE
    assert again.outcome.is_successful
    assert again.outcome.output == "The red mug is in the basket."
    assert again.outcome.tokens == TokenCount()
    assert await stage.log() == "added Red mug; saved ada@example.com; "
    assert again.report.completion is Completion.COMPLETE
    assert [action.state for action in again.report.actions] == ["held"] * 4


async def test_feed_and_record_of_a_replay_are_those_of_a_run(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED))
    again = await stage.again(work.recorded)
    plans = [event for event in again.events if isinstance(event, StepPlanned)]
    receipts = [event for event in again.events if isinstance(event, ActionFinished)]
    assert [plan.see for plan in plans] == ["Step 1 of 2 of the recorded run.", "Step 2 of 2 of the recorded run."]
    assert plans[1].screenshot == "2.jpg"
    assert [call.name for plan in plans for call in plan.calls] == [receipt.name for receipt in receipts]
    assert tuple(call.name for call, _ in again.record.actions) == ("navigate", "click")
    assert again.record.opened.replays == "a run"
    assert again.record.closed is not None
    # A replay is a recorded run itself, and can be done again.
    assert again.record.actions[1][1] is not None
    assert again.record.actions[1][1].targets


@pytest.mark.parametrize(
    ("today", "levels"),
    [
        ("rehashed", ["stable", "exact", "exact"]),
        ("reversed dearer", ["exact", "exact", "exact"]),
        ("renamed", ["exact", "exact", "path"]),
        ("late", ["exact", "exact", "exact"]),
    ],
)
async def test_elements_are_known_again_on_a_page_that_changed(
    finish: Finish, stage: Stage, today: str, levels: list[str]
):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED, SAVE))
    await stage.today(today)
    again = await stage.again(work.recorded)
    assert await stage.log() == "added Red mug; saved ada@example.com; "
    assert again.levels == levels
    assert again.outcome.is_successful, again.outcome.summary


async def test_an_element_that_is_gone_ends_the_replay_with_a_report(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED, SAVE))
    await stage.today("soldout")
    again = await stage.again(work.recorded)
    assert await stage.log() == ""
    assert again.report.completion is Completion.PARTIAL
    assert [action.state for action in again.report.actions] == ["held", "failed", "not_reached", "not_reached"]
    assert (again.outcome.ending, again.outcome.is_successful) == (Ending.DONE, False)
    assert again.outcome.output != "The red mug is in the basket."
    assert "click (failed)" in again.outcome.output
    assert "which is not sure" in again.outcome.output


async def test_a_replay_in_which_nothing_works_has_failed(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site))
    run = work.recorded
    assert run.steps[0].answered is not None
    run.steps[0].answered.calls[0].arguments["url"] = "http://127.0.0.1:1/"
    again = await stage.again(run)
    assert again.report.completion is Completion.FAILED
    assert (again.outcome.ending, again.outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert not again.outcome.is_successful


class OneStep:
    """A fund that leaves room for one step only."""

    def __init__(self) -> None:
        self.asked = 0

    async def reserve(self, amount: Decimal | None, spent: Decimal) -> str | None:
        self.asked += 1
        return None if self.asked == 1 else "The cap of the team is used up."

    async def reserve_again(self, amount: Decimal | None, spent: Decimal) -> str | None:
        return await self.reserve(amount, spent)


async def test_a_replay_ends_when_a_cap_leaves_no_room_for_its_next_step(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED))
    again = await stage.again(work.recorded, fund=OneStep())
    assert (again.outcome.ending, again.outcome.failure) == (Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED)
    assert "The cap of the team is used up." in again.outcome.summary
    assert again.outcome.steps == 1


async def test_no_report_takes_the_place_of_an_answer_with_a_schema(finish: Finish, stage: Stage):
    await stage.today("")
    schema = {"type": "object", "properties": {"color": {"type": "string"}}}
    answer = {"done": {"text": json.dumps({"color": "red"})}}
    steps = [*shopping(stage.site, ADD_RED)[:-1], answer]
    _, work = await finish(steps, output_schema=schema)
    assert (await stage.again(work.recorded)).outcome.output == {"color": "red"}
    await stage.today("soldout")
    again = await stage.again(work.recorded)
    assert (again.outcome.output, again.outcome.is_successful) == (None, False)


async def test_a_menu_that_closed_is_opened_again(finish: Finish, stage: Stage):
    await stage.today("")
    menu = [{"click": {"index": {"text": "More"}}}, {"click": {"index": {"text": "Opening hours"}}}]
    _, work = await finish(shopping(stage.site, *menu))
    await stage.today("shy")
    again = await stage.again(work.recorded)
    assert await stage.log() == "hours; "
    assert again.outcome.is_successful, again.outcome.summary


async def test_what_failed_then_is_not_tried_again(finish: Finish, stage: Stage):
    await stage.today("")
    wrong = {"click": {"index": 9999}}
    look = {"screenshot": {}}
    _, work = await finish(shopping(stage.site, wrong, look, ADD_RED))
    again = await stage.again(work.recorded)
    assert again.outcome.is_successful
    assert tuple(call.name for call, _ in again.record.actions) == ("navigate", "click")


async def test_a_question_of_the_page_is_answered_as_it_was(finish: Finish, stage: Stage):
    await stage.today("")
    ask = {"evaluate": {"code": "setTimeout(() => { log.textContent = confirm('Sure?') ? 'yes' : 'no'; }), 1"}}
    _, work = await finish(shopping(stage.site, ask, {"answer_dialog": {"accept": True}}))
    again = await stage.again(work.recorded)
    assert await stage.log() == "yes"
    assert again.outcome.is_successful, again.outcome.summary


async def test_another_place_than_recorded_is_told(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED))
    run = work.recorded
    assert run.steps[1].closed is not None
    run.steps[1].closed.receipts[0] = msgspec.structs.replace(
        run.steps[1].closed.receipts[0], url=stage.site.url("/thanks")
    )
    again = await stage.again(run)
    assert [action.state for action in again.report.actions] == ["held", "differs"]
    assert "/thanks" in again.report.actions[1].why
    assert not again.outcome.is_successful


async def test_an_extract_is_done_again_only_with_a_model(finish: Finish, stage: Stage):
    await stage.today("")
    steps = shopping(stage.site, {"extract": {"query": "What does the bowl cost?"}})
    _, work = await finish({"steps": steps, "extracts": ["9.50"]})
    again = await stage.again(work.recorded)
    assert tuple(call.name for call, _ in again.record.actions) == ("navigate",)
    stand_in = StandIn({"extracts": ["9.50 today"]})
    model = open_model_of(stand_in, "anthropic")
    try:
        again = await stage.again(work.recorded, model, with_model=True)
    finally:
        await model.close()
        await asyncio.to_thread(stand_in.close)
    assert tuple(call.name for call, _ in again.record.actions) == ("navigate", "extract")
    assert again.outcome.tokens.input > 0


async def test_placeholders_stay_placeholders_and_are_filled_anew(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, SAVE))
    run = work.recorded
    assert run.steps[1].answered is not None
    run.steps[1].answered.calls[0].arguments["text"] = "<secret>mail</secret>"
    secrets = SensitiveData.read({stage.site.url(""): {"mail": "hidden@example.com"}})
    again = await stage.again(run, secrets=secrets)
    assert again.outcome.is_successful, again.outcome.summary
    assert await stage.log() == "saved hidden@example.com; "
    kept = (stage.folder / "history.json").read_text() + str(again.events)
    assert "<secret>mail</secret>" in kept
    assert "hidden@example.com" not in kept


async def test_a_replay_keeps_within_its_steps_and_its_time(finish: Finish, stage: Stage):
    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED, SAVE))
    again = await stage.again(work.recorded, max_steps=2)
    assert (again.outcome.ending, again.outcome.steps) == (Ending.STEPS_SPENT, 2)
    await stage.today("soldout")
    again = await stage.again(work.recorded, timeout=1.0)
    assert again.outcome.ending is Ending.TIMED_OUT
    assert not again.outcome.is_successful


async def test_tabs_are_known_again_by_their_order(finish: Finish, stage: Stage):
    await stage.today("")
    other = {"navigate": {"url": stage.site.url("/agent_order.html"), "new_tab": True}}
    back = {"switch": {"tab_id": {"title": "Shop of the day"}}}
    _, work = await finish(shopping(stage.site, other, back, ADD_RED))
    await stage.today("")
    again = await stage.again(work.recorded)
    assert await stage.log() == "added Red mug; "
    assert again.outcome.is_successful, again.outcome.summary


async def test_a_fault_of_our_own_in_a_replay_does_not_stand_in_the_record_as_a_stop(finish: Finish, stage: Stage):
    def crash(event: FeedEvent) -> None:
        if isinstance(event, StepPlanned):
            raise ZeroDivisionError

    await stage.today("")
    _, work = await finish(shopping(stage.site, ADD_RED))
    with pytest.raises(ZeroDivisionError):
        await stage.again(work.recorded, tell=crash)
    closed = load(stage.folder / "history.json")[-1].closed
    assert closed is not None
    assert (closed.ending, closed.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert "fault in our own program (ZeroDivisionError)" in closed.summary


async def test_what_a_replay_sees_is_evidence_for_the_answer_it_fills_in(finish: Finish, stage: Stage):
    schema = {"type": "object", "properties": {"mug": {"enum": ["Red mug", "Blue mug"]}}, "required": ["mug"]}
    await stage.today("")
    steps = [
        {"navigate": {"url": stage.site.url("/replay_shop.html")}},
        {"set_field": {"field": "mug", "value": "Red mug"}},
        {"done": {"text": "There is a red mug."}},
    ]
    _, work = await finish(steps, output_schema=schema)
    again = await stage.again(work.recorded)
    assert [action.state for action in again.report.actions] == ["held", "held"], again.report
    assert again.outcome.is_successful
    await stage.today("soldout")
    again = await stage.again(work.recorded)
    assert [action.state for action in again.report.actions] == ["held", "failed"], again.report


async def test_an_element_that_keys_do_not_find_is_found_by_the_model_that_was_named(finish: Finish, stage: Stage):
    words = "renamed anonymous"
    await stage.today("")
    _, work = await finish(shopping(stage.site, SAVE))
    await stage.today(words)
    alone = await stage.again(work.recorded)
    assert alone.report.actions[-1].state == "failed"
    for answer, state in (({"index": {"text": "Store changes"}, "why": "It saves."}, "held"), ("Hm.", "failed")):
        with StandIn({"steps": [DONE], "extracts": [answer]}) as stand_in:
            model = open_model_of(stand_in, "anthropic")
            await stage.today(words)
            again = await stage.again(work.recorded, model, with_model=True)
            await model.close()
        assert again.report.actions[-1].state == state, again.report
        assert again.outcome.tokens.input > 0
        if state == "held":
            assert again.levels[-1] == "model"
            assert await stage.log() == "saved ada@example.com; "
        assert 'click on button "Save"' in stand_in.requests[0].text
