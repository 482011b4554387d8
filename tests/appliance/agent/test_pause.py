"""A run that is paused, at every place of a step: nothing begins, no clock runs, and it goes on where it was."""

import asyncio
import json
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.clocks import StepClock
from appliance.agent.outcome import Outcome
from appliance.browser.connection import Browser
from appliance.events import ActionFinished, FeedEvent, GoalStated, Notice, StepPlanned
from appliance.pause import Pause
from appliance.words import Ending, ReceiptStatus
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.sandbox_start import Direct
from tests.appliance.agent.conftest import Finish, Prepare, Work
from tests.appliance.agent.replaying import Stage
from tests.site import Site

DONE = {"done": {"text": "It is done.", "success": True}}
NOTE = {"write_file": {"file_name": "notes.md", "content": "a"}}
A_WHILE = 0.6
FAR = 60.0


class Paused:
    """A run that is paused at the first entry of its feed that is wanted."""

    def __init__(self, prepare: Prepare, scenario: Any, wanted: Callable[[FeedEvent], bool], **options: Any) -> None:
        self.wanted = wanted
        self.reached = asyncio.Event()
        self.begun = (0, 0)
        self.work = prepare(scenario, tell=self.tell, **options)
        self.running = asyncio.create_task(self.work.agent.run())

    def tell(self, event: FeedEvent) -> None:
        if not self.reached.is_set() and self.wanted(event):
            self.work.pause.pause()
            self.begun = begun(self.work)
            self.reached.set()

    async def until_paused(self) -> None:
        async with asyncio.timeout(FAR):
            await self.reached.wait()

    async def stand(self) -> None:
        """Wait until the run stands still, look that nothing happens for a while, and let it go on."""
        await self.until_paused()
        await stand(self.work, self.running, self.begun)


def begun(work: Work) -> tuple[int, int]:
    """How many requests have gone to the model, and how many actions are done."""
    return len(work.stand_in.requests), len(work.receipts)


async def stand(work: Work, running: "asyncio.Task[Outcome]", before: tuple[int, int] | None = None) -> None:
    """Look that nothing happens for a while in a run that is paused, and let it go on."""
    before = before or begun(work)
    await asyncio.sleep(A_WHILE)
    assert begun(work) == before
    assert not running.done()
    work.pause.resume()


async def paused_at(
    prepare: Prepare, scenario: Any, wanted: Callable[[FeedEvent], bool], **options: Any
) -> tuple[Work, Outcome]:
    """Let a run work, standing still for a while at the first entry that is wanted."""
    at = Paused(prepare, scenario, wanted, **options)
    await at.stand()
    async with asyncio.timeout(FAR):
        return at.work, await at.running


async def test_a_step_has_no_less_time_for_a_pause_in_it():
    pause = Pause()
    pause.pause()
    async with StepClock(0.02, 0.02, pause) as clock:
        left = clock.seconds_left
        await asyncio.sleep(0.1)
        assert not clock.is_over
        assert clock.seconds_left == left


async def test_a_run_has_no_less_time_for_a_pause_in_it():
    pause = Pause()
    budget = Budget(Assignment("x", timeout=50.0), lambda tokens: Decimal(0), pause)
    budget.start()
    pause.pause()
    left = budget.seconds_left()
    await asyncio.sleep(0.05)
    assert budget.seconds_left() == left
    pause.resume()
    assert budget.seconds_left() <= left


async def test_a_run_that_is_paused_before_it_begins_asks_and_does_nothing(prepare: Prepare):
    work = prepare([DONE], timeout=A_WHILE)
    work.pause.pause()
    running = asyncio.create_task(work.agent.run())
    await asyncio.sleep(2 * A_WHILE)
    assert not running.done()
    assert not work.stand_in.requests
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.agent.outcome_so_far().ending is Ending.STOPPED


async def test_paused_while_the_goal_is_stated_no_step_is_asked_for(prepare: Prepare):
    work, outcome = await paused_at(prepare, [DONE], lambda event: isinstance(event, GoalStated))
    assert outcome.output == "It is done."
    assert len(work.asked) == 1


async def test_a_reply_that_comes_in_a_pause_waits_and_its_actions_are_done_afterwards(prepare: Prepare):
    work = prepare([{"reply": NOTE, "__delay__": 1.0}, DONE])
    running = asyncio.create_task(work.agent.run())
    await work.until_asked()
    work.pause.pause()
    before = begun(work)
    await work.until(lambda event: isinstance(event, StepPlanned))
    await stand(work, running, before=before)
    assert before == (2, 0)
    outcome = await running
    assert outcome.output == "It is done."
    assert [receipt.status for receipt in work.receipts] == ["ok", "ok"]


async def test_a_reply_that_cannot_be_used_is_not_asked_again_in_a_pause(prepare: Prepare):
    work, outcome = await paused_at(
        prepare, ["no JSON", DONE], lambda event: isinstance(event, Notice) and event.code == "reply_repaired"
    )
    assert outcome.output == "It is done."
    assert len(work.asked) == 2


async def test_between_two_actions_the_page_may_change_and_the_rest_is_checked(
    prepare: Prepare, site: Site, browser: Browser
):
    await browser.tab.navigate(site.url("/agent_cart.html"))
    chain = [{"click": {"index": {"text": "Plus"}}}, {"click": {"index": {"text": "Dead"}}}]
    at = Paused(prepare, [chain, DONE], lambda event: isinstance(event, ActionFinished))
    await at.until_paused()
    await browser.tab.evaluate("document.getElementById('dead').remove()")
    await at.stand()
    await at.running
    first, second, _ = at.work.receipts
    assert (first.status, second.status) == (ReceiptStatus.OK, ReceiptStatus.SKIPPED)
    assert "no longer what you planned for" in second.text


async def test_an_element_that_went_away_before_the_first_action_is_noticed_after_a_pause(
    prepare: Prepare, site: Site, browser: Browser
):
    await browser.tab.navigate(site.url("/agent_cart.html"))
    chain = [{"click": {"index": {"text": "Dead"}}}]
    at = Paused(prepare, [chain, DONE], lambda event: isinstance(event, StepPlanned))
    await at.until_paused()
    await browser.tab.evaluate("document.getElementById('dead').remove()")
    await at.stand()
    await at.running
    assert at.work.receipts[0].status is ReceiptStatus.SKIPPED


async def test_after_a_pause_the_page_is_looked_at_again_though_nothing_was_done_to_it(
    prepare: Prepare, site: Site, browser: Browser
):
    await browser.tab.navigate(site.url("/agent_cart.html"))
    at = Paused(prepare, [NOTE, DONE], lambda event: isinstance(event, ActionFinished))
    await at.until_paused()
    await browser.tab.evaluate("document.getElementById('said').textContent = 'Somebody was here.'")
    await at.stand()
    await at.running
    assert "Somebody was here." in at.work.asked[1].text


async def test_an_answer_is_not_reviewed_in_a_pause_and_the_run_does_not_end_in_it(prepare: Prepare):
    work, outcome = await paused_at(prepare, [DONE], lambda event: isinstance(event, ActionFinished))
    assert outcome.output == "It is done."
    reviews = [request for request in work.stand_in.requests if request.kind == "review"]
    assert len(reviews) == 1


async def test_the_turn_for_the_answer_waits_as_well(prepare: Prepare):
    work, outcome = await paused_at(
        prepare, [NOTE, DONE], lambda event: isinstance(event, Notice) and event.code == "delivery_turn", max_steps=2
    )
    assert outcome.output == "It is done."
    assert len(work.asked) == 2


async def test_a_summary_of_earlier_steps_is_not_asked_for_in_a_pause(prepare: Prepare):
    steps = [{"write_file": {"file_name": "n.md", "content": str(n) + "x" * 3_000}} for n in range(9)]
    work, outcome = await paused_at(
        prepare,
        [*steps, DONE],
        lambda event: isinstance(event, ActionFinished) and event.step == 7,
        provider="compatible",
        window=6_000,
    )
    assert outcome.output == "It is done."
    assert "compacted" in work.notices


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")
async def test_what_a_script_asks_for_waits_and_its_time_does_not_count(prepare: Prepare, site: Site):
    sandbox = Sandbox(Direct(), cell_seconds=8.0)
    code = f"found = await fetch({site.url('/agent_cart.html')!r})\nlen([await browser.url() for _ in range(3)])"
    script = {"run_code_file": {"name": "a.py", "code": code}}
    work = prepare([script, DONE], sandbox=sandbox)
    try:
        running = asyncio.create_task(work.agent.run())
        await work.until(lambda event: isinstance(event, StepPlanned))
        work.pause.pause()
        await stand(work, running)
        outcome = await running
    finally:
        await sandbox.close()
    assert outcome.output == "It is done."
    assert work.receipts[0].status is ReceiptStatus.OK


async def test_pages_are_not_opened_in_a_pause_and_all_are_read_afterwards(prepare: Prepare, site: Site):
    urls = [site.url(f"/rows?nodes={20 + number}") for number in range(8)]
    work = prepare([{"read_pages": {"urls": urls}}, DONE])
    running = asyncio.create_task(work.agent.run())
    await work.until(lambda event: isinstance(event, StepPlanned))
    async with asyncio.timeout(FAR):
        while not (work.folder / "scratchpad").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    work.pause.pause()
    await stand(work, running)
    await running
    assert "Read 8 of 8 page(s)" in work.receipts[0].text


async def test_a_replay_that_is_paused_does_nothing_until_it_is_resumed(
    finish: Finish, browser: Browser, site: Site, tmp_path: Path
):
    stage, pause, reached = Stage(browser, site, tmp_path), Pause(), asyncio.Event()
    await stage.today("")
    done: list[FeedEvent] = []

    def tell(event: FeedEvent) -> None:
        if isinstance(event, ActionFinished):
            done.append(event)
        elif isinstance(event, StepPlanned) and event.step == 2:
            pause.pause()
            reached.set()

    add = {"click": {"index": {"text": "Add", "nth": 2}}}
    _, work = await finish([{"navigate": {"url": site.url("/replay_shop.html")}}, add, DONE])
    replaying = asyncio.create_task(stage.again(work.recorded, tell=tell, pause=pause))
    async with asyncio.timeout(FAR):
        await reached.wait()
    before = len(done)
    await asyncio.sleep(A_WHILE)
    assert len(done) == before
    assert not replaying.done()
    pause.resume()
    assert (await replaying).outcome.is_successful
    assert len(done) > before


async def test_a_run_may_be_paused_again_and_again(prepare: Prepare, site: Site):
    pauses: list[asyncio.TimerHandle] = []

    def tell(event: FeedEvent) -> None:
        work.pause.pause()
        pauses.append(asyncio.get_running_loop().call_later(0.05, work.pause.resume))

    open_page = {"navigate": {"url": site.url("/agent_cart.html")}}
    chain = [{"input": {"index": {"label": "Name"}, "text": "Ann"}}, {"click": {"index": {"text": "Plus"}}}]
    work = prepare([open_page, chain, DONE], tell=tell)
    outcome = await work.agent.run()
    for timer in pauses:
        timer.cancel()
    assert outcome.is_successful
    assert [receipt.status for receipt in work.receipts] == ["ok"] * 4
    assert work.pause.count > 4


async def test_a_paused_run_can_be_stopped_and_hands_over_what_it_has(prepare: Prepare):
    saved = {"checkpoint": {"file_name": "found.json", "value": json.dumps(["a"]), "partial": True}}
    at = Paused(prepare, [saved, DONE], lambda event: isinstance(event, ActionFinished))
    await at.until_paused()
    at.running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await at.running
    outcome = at.work.agent.outcome_so_far()
    assert outcome.ending is Ending.STOPPED
    assert outcome.steps == 1
