import asyncio

import pytest

from appliance.browser.connection import Browser
from appliance.errors import ActionFailed
from tests.appliance.browser.look import click, find, line_with
from tests.site import Site


async def test_a_function_runs_with_the_element_as_this(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    seen = await browser.observe(with_screenshot=False)
    field = find(browser, seen, ">Fixed")

    assert await field.call("function (a, b) { return [this.value, a + b] }", "x", "y") == ["as it is", "xy"]
    assert await field.call("async function () { return (await Promise.resolve(this)).name }") == "fixed"
    assert await field.call("function () {}") is None
    with pytest.raises(ActionFailed, match="this went wrong"):
        await field.call("function () { throw new Error('this went wrong') }")


async def test_an_element_in_another_process_has_an_id_for_its_own_session(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/frames.html"))
    async with asyncio.timeout(60):
        while len((await browser.observe(with_screenshot=False)).elements) < 5:
            await browser.settle(at_least=0.2)

    for number in (1, 3, 5):
        element = browser.element(number)
        node = await element.send("DOM.describeNode", {"backendNodeId": await element.backend_node_id()})
        assert node["node"]["localName"] == element.view.tag


async def test_a_styled_checkbox_is_used_through_its_label(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, "I accept the terms"))
    await click(browser, find(browser, seen, "Gift wrap"))
    await browser.settle()

    seen = await browser.observe(with_screenshot=False)
    assert line_with(seen, "I accept the terms").endswith("<input type=checkbox>I accept the terms")
    assert line_with(seen, "Gift wrap").endswith("<label for=checkbox checked>Gift wrap")


async def test_an_element_far_below_is_scrolled_to(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=900"))
    seen = await browser.observe(with_screenshot=False)
    assert seen.scroll.above == 0

    point = await find(browser, seen, ">Buy 40").click_point()

    assert 0 < point.y < await browser.tab.evaluate("innerHeight")
    assert point.covered_by is None
    assert (await browser.observe(with_screenshot=False)).scroll.above > 0


async def test_an_element_without_a_box_cannot_be_pointed_at(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)
    await browser.tab.evaluate("document.querySelector('#nothing').style.display = 'none'")

    with pytest.raises(ActionFailed, match="not visible"):
        await find(browser, seen, ">Nothing").click_point()
