"""Elements that are styled alike are asked for their style once: what shows a pointer is numbered, and nothing else."""

from appliance.browser.connection import Browser
from tests.site import Site

POINTED = (
    "Open one",
    "Open two",
    "Menu one",
    "Menu two",
    "Going",
    "Alone",
    "Styled",
    "Live text",
    "Framed text",
)
PLAIN = ("Shut one", "Shut two", "Plain one", "Plain two", "Plain three", "Plain four", "Dead text")


async def test_what_shows_a_pointer_is_numbered_and_its_plain_neighbours_are_not(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_kin.html"))
    await browser.settle(10)

    lines = (await browser.observe(with_screenshot=False)).lines

    for text in POINTED:
        assert [line for line in lines if line.endswith(f">{text}") and "[" in line], text
    for text in PLAIN:
        assert [line for line in lines if line.endswith(text) and "[" not in line], text


async def test_a_class_that_is_taken_away_between_two_readings_counts_at_once(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_kin.html"))
    await browser.observe(with_screenshot=False)
    await browser.tab.evaluate("document.querySelector('.menu').className = ''")

    lines = (await browser.observe(with_screenshot=False)).lines

    assert [line for line in lines if line.endswith("Menu one") and "[" not in line]
