import asyncio

from appliance.browser.connection import Browser
from tests.appliance.browser.look import click, find, line_with
from tests.site import Site


async def test_after_clicks_that_change_nothing_the_page_is_quiet(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)
    button = find(browser, seen, ">Nothing")

    for _ in range(5):
        await browser.settle()
        await click(browser, button)
        settled = await browser.settle()
        assert (settled.reason, settled.changed, settled.navigated) == ("quiet", False, False)


async def test_a_change_that_comes_a_little_later_is_waited_for(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, ">Soon"))
    settled = await browser.settle()

    assert settled.changed
    assert line_with(await browser.observe(with_screenshot=False), "Came at once")


async def test_a_request_of_the_page_is_waited_for(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, ">Fetch"))
    settled = await browser.settle()

    assert settled.reason == "quiet"
    assert line_with(await browser.observe(with_screenshot=False), "fetched")


async def test_a_navigation_that_a_click_began_is_waited_for(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, ">Go"))
    settled = await browser.settle()

    assert settled.navigated
    assert settled.url.endswith("text=arrived")
    assert line_with(await browser.observe(with_screenshot=False), "arrived")


async def test_a_page_that_says_it_is_loading_is_given_time(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/loading.html"))

    assert line_with(await browser.observe(with_screenshot=False), "Here it is")


async def test_settling_ends_at_its_cap(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    await browser.tab.evaluate("void fetch('/slow?json&seconds=20')")

    settled = await browser.settle(0.5)

    assert settled.reason == "cap"


async def test_a_tab_that_a_click_opened_is_followed(browser: Browser, site: Site) -> None:
    for name, nodes in ((">New tab", 20), (">Window", 30)):
        await browser.tab.navigate(site.url("/changing.html"))
        opener = browser.tab
        seen = await browser.observe(with_screenshot=False)

        await click(browser, find(browser, seen, name))
        settled = await browser.settle()

        assert settled.tab_changed
        seen = await browser.observe()
        assert seen.url == site.url(f"/rows?nodes={nodes}")
        assert seen.screenshot is not None
        await browser.close_tab(browser.tab.tab_id)
        assert browser.tab is opener


async def test_a_tab_that_opens_by_itself_is_listed_but_not_followed(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    current = browser.tab
    attached = asyncio.create_task(browser.cdp.wait_for("Target.attachedToTarget"))
    await asyncio.sleep(0)
    await browser.cdp.send("Target.createTarget", {"url": site.url("/"), "background": True})
    await attached

    seen = await browser.observe(with_screenshot=False)

    assert browser.tab is current
    assert len(seen.tabs) == 2
