from appliance.browser.connection import Browser
from tests.site import Site


async def test_a_page_is_read_into_lines_with_a_picture(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=50"))

    seen = await browser.observe()

    assert seen.title == "Rows"
    assert seen.url == site.url("/rows?nodes=50")
    assert seen.screenshot is not None
    assert seen.screenshot.width <= 1280
