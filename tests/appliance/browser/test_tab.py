import asyncio

import pytest

from appliance.browser.connection import Browser
from appliance.browser.tab import DialogOpen
from appliance.errors import ActionFailed
from tests.appliance.browser.look import click, find, line_with
from tests.site import Site


async def test_a_navigation_tells_where_it_led(browser: Browser, site: Site) -> None:
    first = await browser.tab.navigate(site.url("/"))
    second = await browser.tab.navigate(site.url("/redirect?to=/status%3Fcode%3D404"))

    assert (first.to_url, first.status, first.error) == (site.url("/"), 200, None)
    assert (second.from_url, second.to_url, second.status) == (site.url("/"), site.url("/status?code=404"), 404)


async def test_a_site_that_refuses_the_connection_is_told_as_an_error(browser: Browser) -> None:
    navigation = await browser.tab.navigate("http://127.0.0.1:9/")

    assert navigation.error is not None
    assert "ERR_UNSAFE_PORT" in navigation.error or "refused" in navigation.error
    assert (await browser.observe()).url == "http://127.0.0.1:9/"


async def test_an_attachment_is_a_download_and_the_page_stays(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))

    navigation = await browser.tab.navigate(site.url("/attachment?name=list.csv"))

    assert navigation.is_download
    assert browser.tab.url == site.url("/")
    download = await browser.downloads.wait_complete(5)
    assert download is not None
    assert download.name == "list.csv"


async def test_going_back_uses_the_history_and_ends_where_it_ends(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    await browser.tab.navigate(site.url("/controls.html"))

    navigation = await browser.tab.go_back()

    assert navigation.to_url == site.url("/")
    assert line_with(await browser.observe(with_screenshot=False), "It works.")
    with pytest.raises(ActionFailed, match="no earlier page"):
        await browser.tab.go_back()


async def test_a_page_that_never_ends_is_used_as_far_as_it_is_there(browser: Browser, site: Site) -> None:
    navigation = await browser.tab.navigate(site.url("/never-ends"))
    seen = await browser.observe()

    assert navigation.note == "The page is still loading."
    assert line_with(seen, "Usable")
    assert "The page is still loading." in seen.notes


async def test_a_site_that_never_answers_is_given_up(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))

    navigation = await browser.tab.navigate(site.url("/never"))

    assert "did not answer" in navigation.note
    assert line_with(await browser.observe(with_screenshot=False), "It works.")
    assert (await browser.tab.navigate(site.url("/controls.html"))).status == 200


async def test_a_page_that_is_stuck_is_told_in_a_note(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    stuck = asyncio.create_task(browser.tab.evaluate("(() => { for (;;); })()", timeout=100))
    # The command is sent in the first round of the loop, and the page takes commands in their order.
    await asyncio.sleep(0)

    seen = await browser.observe(with_screenshot=False)

    assert not stuck.done()
    assert any("cannot be read" in note for note in seen.notes)
    again = await browser.observe(with_screenshot=False)
    assert any("cannot be read" in note for note in again.notes)
    await browser.tab.send("Runtime.terminateExecution", timeout=30)
    with pytest.raises(ActionFailed):
        await stuck
    assert line_with(await browser.observe(with_screenshot=False), "It works.")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (">Alert", "alert", "Careful!"),
        (">Confirm", "confirm", "Delete everything?"),
    ],
)
async def test_an_open_dialog_hangs_nothing(browser: Browser, site: Site, name: str, kind: str, message: str) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, name))
    settled = await browser.settle()
    seen = await browser.observe()

    assert settled.reason == "dialog"
    assert browser.dialog is not None
    assert (browser.dialog.kind, browser.dialog.message) == (kind, message)
    assert any(message in note for note in seen.notes)
    with pytest.raises(DialogOpen, match="answer it first"):
        await browser.tab.evaluate("1")
    await browser.tab.send("Page.handleJavaScriptDialog", {"accept": False})
    await browser.settle()
    assert browser.dialog is None
    assert line_with(await browser.observe(), name)


async def test_code_runs_in_the_page_and_its_errors_are_the_pages_own(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))

    assert await browser.tab.evaluate("Promise.resolve({a: [1, 'x']})") == {"a": [1, "x"]}
    with pytest.raises(ActionFailed, match="nothere is not defined"):
        await browser.tab.evaluate("nothere()")
    assert await browser.tab.evaluate("typeof eyes") == "undefined"


async def test_a_crashed_tab_can_be_navigated_again(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    crashed = asyncio.create_task(browser.cdp.wait_for("Inspector.targetCrashed"))
    await asyncio.sleep(0)
    browser.cdp.post("Page.crash", None, browser.tab.session_id)
    await crashed

    seen = await browser.observe()
    assert any("crashed" in note for note in seen.notes)
    assert not browser.lost.is_set()
    assert (await browser.tab.navigate(site.url("/"))).status == 200
    assert line_with(await browser.observe(), "It works.")


async def test_an_unknown_tab_is_an_error_that_names_those_there_are(browser: Browser) -> None:
    with pytest.raises(ActionFailed, match=browser.tab.tab_id):
        await browser.switch_tab("zzzz")


async def test_the_last_tab_that_is_closed_leaves_an_empty_one(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))

    await browser.close_tab(browser.tab.tab_id)

    seen = await browser.observe()
    assert seen.url == "about:blank"
    assert seen.screenshot is None
    assert len(await browser.list_tabs()) == 1
