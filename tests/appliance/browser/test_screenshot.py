import io

import pytest
from PIL import Image

from appliance.browser.cdp import CdpTimeout
from appliance.browser.connection import Browser
from appliance.browser.observation import Screenshot
from tests.appliance.browser.look import line_with
from tests.site import Site

NOISE = """
const canvas = document.createElement("canvas");
canvas.width = innerWidth; canvas.height = innerHeight;
document.body.replaceChildren(canvas);
const context = canvas.getContext("2d");
const image = context.createImageData(canvas.width, canvas.height);
for (let at = 0; at < image.data.length; at += 1) image.data[at] = Math.random() * 255;
context.putImageData(image, 0, 0);
"""


async def test_a_picture_fits_the_limits_and_shows_what_is_scrolled_to(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=2000"))
    await browser.tab.evaluate("document.body.style.background = 'rgb(0, 128, 0)'; scrollTo(0, 1500)")

    seen = await browser.observe()

    assert seen.screenshot is not None
    with Image.open(io.BytesIO(seen.screenshot.data)) as picture:
        assert picture.size == (seen.screenshot.width, seen.screenshot.height)
        assert picture.width <= 1280
        assert picture.height <= 800
        colour = picture.convert("RGB").getpixel((picture.width - 20, picture.height // 2))
    assert isinstance(colour, tuple)
    red, green, blue = colour
    assert green > 100 > max(red, blue)
    assert len(seen.screenshot.data) <= 60_000


async def test_a_busy_picture_is_made_smaller(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate(NOISE)
    first = (await browser.observe()).screenshot
    assert first is not None
    assert len(first.data) < 700_000


async def test_a_frame_that_is_stuck_is_a_line_and_holds_nothing_else_up(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/stuck.html"))
    with pytest.raises(CdpTimeout):
        # The frame begins its endless loop 100 ms after it has loaded.
        await browser.cdp.wait_for("Page.loadEventFired", timeout=0.5)

    seen = await browser.observe(with_screenshot=False)

    assert line_with(seen, "this frame is not read")
    assert line_with(seen, "Usable")


async def test_pictures_look_alike_until_a_person_would_see_a_difference(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    first = (await browser.observe()).screenshot
    await browser.tab.evaluate("document.querySelector('button').style.color = 'red'")
    second = (await browser.observe()).screenshot
    await browser.tab.evaluate(
        """document.body.insertAdjacentHTML('beforeend', `<div style="position:fixed;left:300px;top:200px;width:400px;
          height:200px;background:black">A dialog</div>`)"""
    )
    third = (await browser.observe()).screenshot

    assert first
    assert second
    assert third
    assert first.looks_like(second)
    assert not second.looks_like(third)
    assert not first.looks_like(Screenshot(first.data, first.media_type, first.width, first.height))
