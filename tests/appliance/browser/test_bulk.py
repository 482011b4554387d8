"""Reading pages in tabs of their own: what is made of pages whose sites keep them waiting."""

from time import monotonic

from appliance.browser.bulk import BulkReader, Read
from appliance.browser.connection import Browser
from appliance.browser.rendering import Wish
from tests.site import Site


async def read(browser: Browser, *wishes: Wish) -> dict[str, Read]:
    found: dict[str, Read] = {}

    async def take(one: Read) -> None:
        found[one.wish.url] = one

    async with BulkReader(browser, end=monotonic() + 120, gap=lambda _: 0.0) as reader:
        await reader.read(wishes, take)
    return found


async def test_a_page_that_is_never_sent_to_its_end_is_read_as_far_as_it_came(browser: Browser, site: Site) -> None:
    url = site.url("/never-ends")
    read_page = (await read(browser, Wish(url, seconds=15)))[url]
    assert read_page.rendered is not None, read_page.error
    assert read_page.rendered.text.startswith("The beginning")


async def test_a_site_that_does_not_answer_is_told_from_a_page_that_fails(browser: Browser, site: Site) -> None:
    mute, failing = site.url("/never"), site.url("/status?code=503")
    found = await read(browser, Wish(mute, seconds=2), Wish(failing))
    assert (found[mute].is_mute, found[mute].is_transient) == (True, True)
    assert "within 2 s" in found[mute].error
    assert (found[failing].is_mute, found[failing].is_transient) == (False, True)


async def test_pages_behind_the_one_in_front_have_pictures_of_their_own(browser: Browser, site: Site) -> None:
    urls = [site.url(f"/bulk/item?n={number}") for number in range(1, 9)]
    found = await read(browser, *map(Wish, urls))
    pictures = [found[url].picture for url in urls]
    assert all(picture is not None and picture.data.startswith(b"\xff\xd8") for picture in pictures)
    assert len({picture.data for picture in pictures if picture is not None}) == len(urls)
