"""Tabs that actions open, and those that open by themselves."""

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_tabs.html")
    return hands


@pytest.mark.parametrize("name", ["Blank link", "Open a window", "Open after an answer"])
async def test_a_tab_that_an_action_opened_is_followed_and_closing_it_leads_back(page: Hands, name: str):
    first = page.browser.tab.tab_id
    done = await page.act("click", on=name)
    tab = page.browser.tab
    assert f"opened tab {tab.tab_id}" in done.text
    assert tab.tab_id != first
    assert (await page.browser.observe(with_screenshot=False)).url.endswith("/act_second.html")
    done = await page.act("close", tab_id=tab.tab_id)
    assert page.browser.tab.tab_id == first
    assert f"now in tab {first}" in done.text
    assert "counted 1" in (await page.act("click", on="Count")).text


async def test_a_click_with_control_or_the_middle_button_opens_a_tab(page: Hands):
    first = page.browser.tab.tab_id
    done = await page.act("click", on="Plain link", button="middle")
    assert f"opened tab {page.browser.tab.tab_id}" in done.text
    assert page.browser.tab.tab_id != first


async def test_a_window_that_opens_by_itself_does_not_take_the_current_tab_away(page: Hands):
    first = page.browser.tab.tab_id
    await page.act("click", on="Arm an advertisement")
    await page.act("wait", seconds=1.5)
    assert page.browser.tab.tab_id == first
    tabs = await page.browser.list_tabs()
    assert len({tab.tab_id for tab in tabs}) == 2
    seen = await page.browser.observe(with_screenshot=False)
    assert any("by itself" in note for note in seen.notes)
    assert "counted 1" in (await page.act("click", on="Count")).text
    assert page.browser.tab.tab_id == first


async def test_an_unknown_tab_is_no_tab(page: Hands):
    for name in ("switch", "close"):
        done = await page.act(name, tab_id="zzzz")
        assert done.status is ReceiptStatus.FAILED
        assert page.browser.tab.tab_id in done.text
