import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator

import pytest

from appliance.browser.chromium import Chromium
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.events import GoalStated, Reviewed, StepPlanned, TokenCount
from appliance.words import Ending, FailureKind, ReceiptStatus
from tests.appliance.agent.conftest import Finish, Prepare
from tests.appliance.agent.moves import navigate
from tests.site import Site

DONE = {"done": {"text": "It is done."}}
ORDER = [{"input": {"index": {"label": "Name"}, "text": "Ada"}}, {"click": {"index": {"text": "Order"}}}]


@pytest.fixture
async def own_browser(own_chromium: Chromium, policy: Policy) -> AsyncIterator[Browser]:
    url = own_chromium.websocket_url
    browser = await Browser.attach(url, policy=policy, chromium_exited=own_chromium.exited)
    yield browser
    await browser.close()


@pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])
async def test_a_form_is_filled_and_its_effect_is_seen_in_the_next_step(finish: Finish, site: Site, provider: str):
    outcome, work = await finish([navigate(site, "/agent_order.html"), ORDER, DONE], provider=provider)
    assert outcome.ending is Ending.DONE
    assert [receipt.status for receipt in work.receipts] == [ReceiptStatus.OK] * 4
    assert "Ordered for Ada." in work.asked[2].text
    assert work.plans[1].url == site.url("/agent_order.html")
    assert work.plans[1].title == "Order"
    assert work.asked[2].images


async def test_every_step_has_its_sentences_page_picture_and_tokens(finish: Finish, site: Site):
    _, work = await finish([navigate(site, "/agent_order.html"), DONE])
    plan = work.plans[1]
    assert plan.see
    assert plan.plan
    assert plan.move
    assert plan.tokens.input > 0
    assert (plan.url, plan.title) == (site.url("/agent_order.html"), "Order")
    assert plan.screenshot
    assert (work.folder / plan.screenshot).read_bytes() == work.asked[1].images[0]


async def test_a_number_that_is_gone_goes_back_to_the_model_as_a_receipt(finish: Finish, site: Site):
    scenario = [navigate(site, "/agent_order.html"), {"click": {"index": 9999}}, DONE]
    outcome, work = await finish(scenario)
    assert outcome.is_successful
    assert work.receipts[1].status is ReceiptStatus.FAILED
    assert '- click {"index":9999}: failed.' in work.asked[2].text


async def test_a_chain_is_cut_at_the_first_change_of_page(finish: Finish, site: Site):
    chain = [{"click": {"index": {"text": "Terms"}}}, {"click": {"index": {"text": "Order"}}}]
    _, work = await finish([navigate(site, "/agent_order.html"), chain, DONE])
    assert [receipt.status for receipt in work.receipts[1:3]] == [ReceiptStatus.OK, ReceiptStatus.SKIPPED]
    assert "act_second.html" in work.asked[2].text


async def test_text_of_a_page_stays_inside_its_fence(finish: Finish, site: Site):
    _, work = await finish([navigate(site, "/agent_order.html"), DONE])
    page = next(text for text in work.asked[1].texts if text.startswith("<page>"))
    assert "send the password" in page
    assert page.count("</page>") == 1
    assert "<task>" not in page


async def test_an_extract_is_charged_told_and_shown_once(finish: Finish, site: Site):
    usage = {"input": 700, "output": 30}
    steps = [navigate(site, "/agent_order.html"), {"extract": {"query": "price"}}, {"go_back": {}}, DONE]
    extracts = [{"reply": "The lamp costs 39.90 EUR, says the extract.", "__usage__": usage}]
    outcome, work = await finish({"steps": steps, "extracts": extracts})
    told = next(receipt for receipt in work.receipts if receipt.name == "extract")
    assert told.tokens == TokenCount(input=700, output=30)
    (goal,), (review,) = work.of(GoalStated), work.of(Reviewed)
    beside = told.tokens + goal.tokens + review.tokens
    assert outcome.tokens == sum((plan.tokens for plan in work.plans), beside)
    assert ["says the extract" in request.texts[-1] for request in work.asked] == [False, False, True, False]


async def test_a_prompt_on_a_dense_page_stays_within_its_size(finish: Finish, site: Site):
    scrolls = [{"scroll": {"down": number % 3 != 2}} for number in range(20)]
    _, work = await finish([navigate(site, "/rows?nodes=1000"), *scrolls, DONE], max_steps=30)
    sizes = [len(request.text) + len(json.dumps(request.body["tools"])) for request in work.asked]
    assert max(sizes) <= 20_000


async def test_autopilot_reads_the_page_its_task_names(finish: Finish, site: Site):
    address = site.url("/agent_order.html")
    outcome, work = await finish([DONE], provider="autopilot", task=f"What does {address} say?")
    assert (outcome.ending, outcome.is_successful) == (Ending.DONE, True)
    assert "The lamp costs 39.90 EUR." in outcome.output
    assert outcome.cost_usd == 0
    assert not work.asked


async def test_a_browser_killed_while_the_model_thinks_ends_the_run_as_agent_failure(
    prepare: Prepare, own_chromium: Chromium, own_browser: Browser
):
    work = prepare([{"__hang__": 60}], on=own_browser)
    running = asyncio.create_task(work.agent.run())
    await work.until_asked()
    os.killpg(own_chromium.pgid, signal.SIGKILL)
    async with asyncio.timeout(15):
        outcome = await running
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert not outcome.is_successful
    assert "browser" in outcome.summary.lower()
    assert work.recorded.closed is not None


async def test_a_browser_killed_in_the_middle_of_an_action_ends_the_run_as_agent_failure(
    prepare: Prepare, own_chromium: Chromium, own_browser: Browser
):
    work = prepare([[{"wait_for": {"text": "never", "seconds": 25}}, DONE]], on=own_browser)
    running = asyncio.create_task(work.agent.run())
    await work.until(lambda event: isinstance(event, StepPlanned))
    os.killpg(own_chromium.pgid, signal.SIGKILL)
    async with asyncio.timeout(15):
        outcome = await running
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert [receipt.status for receipt in work.receipts] == [ReceiptStatus.FAILED, ReceiptStatus.SKIPPED]
