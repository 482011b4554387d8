import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


async def test_navigating_tells_from_where_to_where(hands: Hands):
    await hands.open("act_second.html")
    done = await hands.act("navigate", url=hands.site.url("/act_pointer.html"))
    base = hands.site.url("/act_")
    assert done.text == f"Navigated from {base}second.html to {base}pointer.html."
    assert (done.status, done.ends_chain) == (ReceiptStatus.OK, True)
    assert await hands.js("document.title") == "Pointer"


async def test_an_http_error_is_told(hands: Hands):
    done = await hands.act("navigate", url=hands.site.url("/status?code=404"))
    assert "(HTTP 404)" in done.text


async def test_a_new_tab_is_opened_and_switched_to(hands: Hands):
    await hands.open("act_second.html")
    before = hands.browser.tab.tab_id
    done = await hands.act("navigate", url=hands.site.url("/act_pointer.html"), new_tab=True)
    assert hands.browser.tab.tab_id != before
    assert f"Opened tab {hands.browser.tab.tab_id} beside {before}" in done.text
    assert await hands.js("document.title") == "Pointer"


async def test_a_site_that_cannot_be_reached_has_failed_and_says_why(hands: Hands):
    done = await hands.act("navigate", url="http://127.0.0.1:1/")
    assert done.status is ReceiptStatus.FAILED
    assert "could not be opened" in done.text


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://169.254.169.254/", "chrome://settings", "javascript:alert(1)"]
)
async def test_policy_blocks_what_must_not_be_opened(hands: Hands, url: str):
    done = await hands.act("navigate", url=url)
    assert done.status is ReceiptStatus.BLOCKED
    assert hands.browser.tab.url == "about:blank"


async def test_an_address_that_is_a_file_is_downloaded_and_the_page_stays(hands: Hands):
    await hands.open("act_second.html")
    done = await hands.act("navigate", url=hands.site.url("/attachment?name=report.csv"))
    assert "download of report.csv" in done.text
    assert hands.browser.tab.url.endswith("/act_second.html")


async def test_going_back_works_until_there_is_nothing_behind(hands: Hands):
    await hands.open("act_second.html")
    await hands.open("act_pointer.html")
    done = await hands.act("go_back")
    assert done.text.startswith("Went back from")
    assert await hands.js("document.title") == "Second"
    done = await hands.act("go_back")
    assert done.status is ReceiptStatus.FAILED
    assert hands.browser.tab.url.endswith("/act_second.html")


async def test_a_search_is_turned_into_the_engines_address(hands: Hands):
    # There is no network here: what counts is the address that was tried.
    done = await hands.act("search", query="a & b", engine="bing")
    assert done.status in (ReceiptStatus.FAILED, ReceiptStatus.BLOCKED)
    assert "resolved" in done.text or "bing.com" in done.text


async def test_waiting_tells_how_long_it_really_took_and_what_came(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("setTimeout(() => document.body.append('late words'), 150); 1")
    done = await hands.act("wait", seconds=0.4)
    assert done.status is ReceiptStatus.OK
    assert done.text.startswith("Waited 0.")
    assert '"late words"' in done.text


async def test_a_text_is_waited_for_until_it_is_there_or_gone(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("setTimeout(() => document.body.append('Late Words'), 200); 1")
    done = await hands.act("wait_for", text="late words", seconds=5)
    assert done.status is ReceiptStatus.OK
    assert done.duration_ms < 3000
    await hands.js("setTimeout(() => document.querySelector('h1').remove(), 200); 1")
    assert (await hands.act("wait_for", gone="Second page", seconds=5)).status is ReceiptStatus.OK


async def test_a_text_on_the_next_page_is_waited_for_across_the_navigation(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("setTimeout(() => { location.href = 'act_pointer.html' }, 200); 1")
    done = await hands.act("wait_for", text="Does nothing", seconds=10)
    assert done.status is ReceiptStatus.OK
    assert done.ends_chain


async def test_an_address_is_waited_for(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("setTimeout(() => history.pushState({}, '', '?step=2'), 200); 1")
    assert (await hands.act("wait_for", url="step=2", seconds=5)).status is ReceiptStatus.OK


async def test_what_does_not_come_in_time_has_failed(hands: Hands):
    await hands.open("act_second.html")
    done = await hands.act("wait_for", text="never", seconds=0.3)
    assert done.status is ReceiptStatus.FAILED
    assert "exactly one of" in (await hands.act("wait_for")).text


async def test_tabs_are_switched_and_closed(hands: Hands):
    await hands.open("act_second.html")
    first = hands.browser.tab.tab_id
    await hands.act("navigate", url=hands.site.url("/act_pointer.html"), new_tab=True)
    second = hands.browser.tab.tab_id
    done = await hands.act("switch", tab_id=first.upper())
    assert done.text.startswith(f"Switched from tab {second} to {first}")
    assert await hands.js("document.title") == "Second"
    assert (await hands.act("switch", tab_id=first)).status is ReceiptStatus.NO_EFFECT
    done = await hands.act("close", tab_id=first)
    assert f"Closed tab {first}; now in tab {second}" in done.text
    assert [tab.tab_id for tab in await hands.browser.list_tabs()] == [second]
    done = await hands.act("close", tab_id="zzzz")
    assert done.status is ReceiptStatus.FAILED
    assert f"there are: {second}" in done.text
