"""Trusted mouse input: what is sent to the browser for a click, a move, a wheel turn and a drag."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from appliance.browser.cdp import CdpError
from appliance.browser.effects import method
from appliance.browser.keyboard import Event
from appliance.browser.screenshot import MAX_HEIGHT, MAX_WIDTH
from appliance.browser.tab import DialogOpen, Tab
from appliance.errors import ActionFailed, ActionInvalid

if TYPE_CHECKING:
    from appliance.browser.connection import Browser
    from appliance.browser.element import Element

Button = Literal["left", "right", "middle"]
Spot = tuple[float, float]
"""A place in CSS pixels of the main viewport."""

INPUT_SECONDS = 10.0
DRAG_STEPS = 8
DRAG_START_SECONDS = 10.0

_BITS = {"left": 1, "right": 2, "middle": 4}


async def dispatch(browser: "Browser", events: Iterable[Event], tab: Tab | None = None) -> None:
    """Send input events to a tab, in order and without waiting between, and wait until the page took them.

    The tab is the current one unless given.

    Comes back at once when a dialog opens or the tab closes meanwhile. Raises ActionFailed when the page is too
    busy to take them within ten seconds.
    """
    tab = tab or browser.tab
    sent = [tab.send(method, params, timeout=INPUT_SECONDS) for method, params in events]
    answers = await asyncio.gather(*sent, return_exceptions=True)
    if tab.closed:
        return
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, DialogOpen):
            raise answer


async def from_picture(browser: "Browser", x: float, y: float) -> Spot:
    """Return the place in the viewport for a place in the screenshot; raises ActionInvalid when it is outside."""
    width, height, scale = await _scale(browser)
    if not (0 <= x < width * scale and 0 <= y < height * scale):
        raise ActionInvalid(
            f"{x}, {y} is outside the picture, which has {width * scale:g} x {height * scale:g} pixels."
        )
    return x / scale, y / scale


async def to_picture(browser: "Browser", spot: Spot) -> tuple[int, int]:
    """Return the place in the screenshot for a place in the viewport."""
    _, _, scale = await _scale(browser)
    return round(spot[0] * scale), round(spot[1] * scale)


async def _scale(browser: "Browser") -> tuple[float, float, float]:
    """Return width and height of the viewport, and how many pixels of the picture one of its pixels is."""
    width, height = await browser.tab.run("() => [innerWidth, innerHeight]")
    return width, height, min(1.0, MAX_WIDTH / width, MAX_HEIGHT / height)


def move_event(spot: Spot, held: Button | None = None) -> Event:
    """Return the event that moves the mouse, with a button held down or not."""
    return "Input.dispatchMouseEvent", {
        "type": "mouseMoved",
        "x": spot[0],
        "y": spot[1],
        "button": held or "none",
        "buttons": _BITS[held] if held else 0,
    }


def click_events(spot: Spot, button: Button = "left", count: int = 1) -> Iterator[Event]:
    """Yield a move and the presses and releases of a click."""
    yield move_event(spot)
    yield from press_events(spot, button, count)


def press_events(spot: Spot, button: Button = "left", count: int = 1) -> Iterator[Event]:
    """Yield `count` presses and releases, the later ones as parts of a double or triple click."""
    for number in range(1, count + 1):
        yield _button_event("mousePressed", spot, button, number)
        yield _button_event("mouseReleased", spot, button, number)


def wheel_event(spot: Spot, down: float) -> Event:
    """Return the event that turns the wheel by `down` CSS pixels, negative for up."""
    return "Input.dispatchMouseEvent", {
        "type": "mouseWheel",
        "x": spot[0],
        "y": spot[1],
        "deltaX": 0,
        "deltaY": down,
    }


async def drag(browser: "Browser", source: "Element", start: Spot, end: Spot) -> bool:
    """Press at `start` on `source`, move, release at `end`; returns whether it became a drag and drop with data.

    Chromium hands such a drag to the desktop, where nobody answers; it is intercepted and carried on here.
    """
    session_id = browser.tab.session_id
    dragged: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def take(params: dict[str, Any], event_session: str) -> None:
        if event_session == session_id and not dragged.done():
            dragged.set_result(params["data"])

    await source.call(method("drag", "listen"))
    stop = browser.cdp.on("Input.dragIntercepted", take)
    await browser.tab.send("Input.setInterceptDrags", {"enabled": True})
    try:
        await dispatch(browser, [move_event(start), _button_event("mousePressed", start, "left", 1)])
        first, *path = _between(start, end)
        await dispatch(browser, [move_event(first, "left")])
        await dispatch(browser, [move_event(path[0], "left")])
        if browser.dialog is None and await source.call(method("drag", "hasBegun")):
            await asyncio.wait((dragged,), timeout=DRAG_START_SECONDS)
        if dragged.done():
            await dispatch(browser, _drop_events(dragged.result(), end))
        else:
            await dispatch(browser, [move_event(spot, "left") for spot in path])
        await dispatch(browser, [_button_event("mouseReleased", end, "left", 1)])
    finally:
        stop()
        with suppress(CdpError, ActionFailed):
            await browser.tab.send("Input.setInterceptDrags", {"enabled": False}, timeout=1.0)
    return dragged.done()


def _between(start: Spot, end: Spot) -> list[Spot]:
    """Return the places on the way: a short first move that passes the drag threshold, then even steps."""
    (x, y), (to_x, to_y) = start, end
    steps = [(x + (to_x - x) * part / DRAG_STEPS, y + (to_y - y) * part / DRAG_STEPS) for part in range(1, DRAG_STEPS)]
    return [(x + 5, y + 5), *steps, end, end]


def _drop_events(data: dict[str, Any], spot: Spot) -> Iterator[Event]:
    for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
        yield "Input.dispatchDragEvent", {"type": kind, "x": spot[0], "y": spot[1], "data": data}


def _button_event(kind: str, spot: Spot, button: Button, number: int) -> Event:
    held = _BITS[button] if kind == "mousePressed" else 0
    return "Input.dispatchMouseEvent", {
        "type": kind,
        "x": spot[0],
        "y": spot[1],
        "button": button,
        "buttons": held,
        "clickCount": number,
    }
