"""All links of pages that load or draw them as they are scrolled."""

import asyncio
import re

import pytest

from appliance.browser.connection import Browser
from appliance.browser.growth import Merging, gather_links
from appliance.browser.links import LinkFilter, links_of
from appliance.store.links import FoundLink
from tests.site import Site


def numbers(links: tuple[FoundLink, ...]) -> list[int]:
    return [int(match[1]) for link in links if (match := re.search(r"/bulk/item\?n=(\d+)$", link.url))]


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("/bulk/list?count=60", 60),
        ("/bulk/list?count=60&script", 60),
        ("/bulk/growing?count=40&how=observer", 40),
        ("/bulk/growing?count=40&how=scroll&seconds=0.4", 40),
        ("/bulk/lazy?count=30", 30),
        ("/bulk/window?count=40", 40),
    ],
)
async def test_all_links_are_found_in_order_and_everything_is_scrolled_back(
    browser: Browser, site: Site, path: str, count: int
) -> None:
    await browser.tab.navigate(site.url(path))
    gathered = await gather_links(browser)
    assert numbers(gathered.links) == list(range(1, count + 1))
    assert gathered.is_complete
    tops = "[scrollY, ...[...document.querySelectorAll('div')].map((one) => one.scrollTop)]"
    assert set(await browser.tab.evaluate(tops)) == {0}


async def test_a_form_whose_fields_are_called_like_what_scrolls_is_scrolled_and_scrolled_back(
    browser: Browser, site: Site
) -> None:
    await browser.tab.navigate(site.url("/zoo_clobbering_list.html"))
    gathered = await gather_links(browser)
    assert numbers(gathered.links) == list(range(1, 41))
    top = "Object.getOwnPropertyDescriptor(Element.prototype, 'scrollTop').get.call(document.getElementById('list'))"
    assert await browser.tab.evaluate(top) == 0


async def test_a_panel_of_another_host_is_scrolled_too(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/bulk/panel?path=/bulk/growing?count=30%26how=scroll%26seconds=0.2"))
    async with asyncio.timeout(30):
        while not await links_of(browser.tab, LinkFilter(frame="127.0.0.2")):
            await browser.settle(0.5)
    gathered = await gather_links(browser, LinkFilter(frame="127.0.0.2"))
    assert numbers(gathered.links) == list(range(1, 31))
    assert {link.frame.split("/")[2] for link in gathered.links} == {f"127.0.0.2:{site.port}"}


def link(name: str) -> FoundLink:
    return FoundLink(f"https://a.example/{name}", name)


def test_what_a_reading_has_anew_comes_after_what_it_stood_behind() -> None:
    merging = Merging()
    for reading in ("bcd", "abxc", "de", "hi", "xyc"):
        merging.add(tuple(map(link, reading)))
    assert "".join(one.text for one in merging.links) == "abxycdehi"
