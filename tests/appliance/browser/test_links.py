"""The links of a page: to the byte, in page order, from every kind of frame and shadow."""

import asyncio

import pytest

from appliance.browser.connection import Browser
from appliance.browser.links import LinkFilter, links_of
from appliance.errors import ActionInvalid
from appliance.store.links import FoundLink
from tests.appliance.browser.look import find
from tests.site import Site


async def links_when(browser: Browser, count: int) -> tuple[FoundLink, ...]:
    """Return the links once the page has so many: frames load one after the other."""
    async with asyncio.timeout(30):
        while len(found := await browser.links()) < count:
            await browser.settle(0.5)
    return found


async def test_links_come_in_page_order_to_the_byte_from_frames_of_all_kinds(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/bulk_links.html"))
    found = await links_when(browser, 12)
    same, other = site.url("/bulk_panel.html?same"), site.url("/bulk_panel.html?other", host=2)
    assert [(link.url, link.text, link.frame) for link in found] == [
        (site.url("/shop/form?x=1#top"), "In a form", ""),
        (site.url("/shop/item/1"), "First", ""),
        (site.url("/shop/item/2?q=a%20b&r=%C3%BC"), "Second", ""),
        ("https://example.com/", "More", ""),
        (site.url("/shop/item/4"), "Fourth", ""),
        (site.url("/shop/shadow"), "In the shadow", ""),
        (site.url("/inside"), "In the panel", same),
        (site.url("/inside", host=2), "In the panel", other),
        (site.url("/shop/item/drawn"), "Drawn", ""),
        ("mailto:a@example.com", "Mail", ""),
        (site.url("/shop/hidden"), "In a closed menu", ""),
        (site.url("/shop/last"), "Last", ""),
    ]
    assert [link.text for link in found if not link.is_shown] == ["In a closed menu"]


async def test_a_link_knows_the_texts_of_the_row_or_card_around_it(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/bulk_links.html"))
    rows = {link.text: link.row for link in await browser.links()}
    assert rows["First"] == "First\nAster\n20.90 GBP"
    assert rows["More"] == "Third\nMore\nCobalt"
    assert rows["Fourth"] == "Dune"


async def test_links_are_narrowed_by_selector_frame_and_element(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/bulk_links.html"))
    await links_when(browser, 12)
    assert [link.text for link in await links_of(browser.tab, LinkFilter(selector="li, .card"))] == [
        "First",
        "Second",
        "More",
        "Fourth",
    ]
    panel = await links_of(browser.tab, LinkFilter(frame="127.0.0.2"))
    assert [link.url for link in panel] == [site.url("/inside", host=2)]
    with pytest.raises(ActionInvalid):
        await links_of(browser.tab, LinkFilter(selector="li["))

    seen = await browser.observe(with_screenshot=False)
    first = find(browser, seen, ">First")
    assert [link.text for link in await links_of(browser.tab, within=first)] == ["First"]
