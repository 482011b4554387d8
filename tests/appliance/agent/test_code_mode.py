"""Steps after desk work: the page is not read again, and what was seen of it can still be used."""

import pytest

from appliance.actions.base import Receipt
from appliance.actions.registry import Registry
from appliance.agent.step import Plan, PlannedAction, Step
from appliance.agent.stub import unchanged
from appliance.browser.connection import Browser
from appliance.events import ActionCall, ActionFinished
from appliance.words import ReceiptStatus
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.moves import click, navigate
from tests.site import Site

WRITE = {"write_file": {"file_name": "notes.md", "content": "a"}}
DONE = {"done": {"text": "It is done."}}


@pytest.mark.parametrize(
    "work_at_the_desk",
    [
        WRITE,
        [WRITE, {"read_file": {"file_name": "notes.md"}}],
        {"checkpoint": {"file_name": "a.json", "value": [1]}},
        [{"remember": {"key": "a", "value": "b"}}, {"recall": {}}],
    ],
)
async def test_after_desk_work_the_page_is_not_read_again(finish: Finish, site: Site, work_at_the_desk: object):
    _, work = await finish([navigate(site), work_at_the_desk, DONE])
    assert [plan.screenshot is not None for plan in work.plans] == [False, True, False]
    assert work.plans[2].url == site.url("/agent_cart.html")
    assert "code mode" in work.asked[2].text.lower()
    assert "code mode" not in work.asked[1].text.lower()


async def test_after_pages_were_read_in_bulk_the_agents_own_page_is_not_read_again(finish: Finish, site: Site):
    read = {"read_pages": {"urls": [site.url("/bulk/item?n=1"), site.url("/bulk/item?n=2")]}}
    _, work = await finish([navigate(site), read, DONE])
    assert "Read 2 of 2" in next(one.text for one in work.of(ActionFinished) if one.name == "read_pages")
    assert [plan.screenshot is not None for plan in work.plans] == [False, True, False]
    assert "code mode" in work.asked[2].text.lower()


async def test_numbers_of_the_last_look_are_still_valid_after_desk_work(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), WRITE, WRITE | {}, {"click": {"index": 3}}, DONE])
    assert outcome.is_successful
    clicked = next(receipt for receipt in work.of(ActionFinished) if receipt.name == "click")
    assert clicked.status is ReceiptStatus.OK
    assert work.plans[4].screenshot is not None


@pytest.mark.parametrize(
    "looked", [{"search_page": {"pattern": "Name"}}, {"evaluate": {"code": "1 + 1"}}, [click("Dead"), WRITE]]
)
async def test_a_step_that_touched_the_page_is_followed_by_a_look_at_it(finish: Finish, site: Site, looked: object):
    _, work = await finish([navigate(site), looked, DONE])
    assert "code mode" not in work.asked[2].text.lower()
    assert work.plans[2].screenshot is not None


def at_the_desk() -> Step:
    call = Registry().parse(WRITE)
    plan = Plan("", "", "", (PlannedAction(ActionCall("call_1", "write_file", WRITE["write_file"]), call),))
    return Step(1, plan=plan, receipts=[Receipt(ReceiptStatus.OK, "Wrote it.")])


async def test_a_page_that_went_elsewhere_meanwhile_is_looked_at(browser: Browser, site: Site):
    before = at_the_desk()
    await browser.tab.navigate(site.url("/agent_cart.html"))
    before.observation = await browser.observe()
    assert await unchanged(before, browser, Registry()) is not None
    await browser.tab.navigate(site.url("/agent_order.html"))
    assert await unchanged(before, browser, Registry()) is None


async def test_another_tab_is_looked_at_even_when_its_address_is_the_same(browser: Browser, site: Site):
    before = at_the_desk()
    await browser.tab.navigate(site.url("/agent_cart.html"))
    before.observation = await browser.observe()
    await browser.open_tab(site.url("/agent_cart.html"))
    assert await unchanged(before, browser, Registry()) is None


async def test_a_step_that_was_cut_off_is_followed_by_a_look(browser: Browser, site: Site):
    before = at_the_desk()
    await browser.tab.navigate(site.url("/agent_cart.html"))
    before.observation = await browser.observe()
    before.trouble = "The step was cut off."
    assert await unchanged(before, browser, Registry()) is None
