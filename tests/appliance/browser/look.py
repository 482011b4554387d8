"""Small means to look at observations in tests."""

from appliance.browser.connection import Browser
from appliance.browser.element import Element
from appliance.browser.observation import Observation


def line_with(seen: Observation, text: str) -> str:
    """Return the one line that contains a text, without indentation."""
    found = [line.strip() for line in seen.lines if text in line]
    assert len(found) == 1, (text, found, seen.lines, seen.notes)
    return found[0]


def index_of(seen: Observation, text: str) -> int:
    """Return the number of the element whose line contains a text."""
    line = line_with(seen, text)
    return int(line.removeprefix("*")[1:].partition("]")[0])


def find(browser: Browser, seen: Observation, text: str) -> Element:
    """Return the element whose line contains a text."""
    return browser.element(index_of(seen, text))


async def click(browser: Browser, element: Element) -> None:
    """Click an element as the mouse does."""
    point = await element.click_point()
    for kind in ("mousePressed", "mouseReleased"):
        await browser.tab.send(
            "Input.dispatchMouseEvent",
            {"type": kind, "x": point.x, "y": point.y, "button": "left", "clickCount": 1},
        )


async def observe_from(browser: Browser, line: int) -> Observation:
    """Observe the current tab from this line on."""
    browser.look_from(line)
    return await browser.observe(with_screenshot=False)
