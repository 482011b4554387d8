"""Actions with the mouse."""

from dataclasses import replace
from typing import Literal, cast

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, named, not_sent, receipt, said
from appliance.browser.connection import Browser
from appliance.browser.effects import Watch, method
from appliance.browser.element import Element
from appliance.browser.likeness import covering
from appliance.browser.pointer import Spot, click_events, dispatch, drag, from_picture, move_event, press_events
from appliance.errors import ActionInvalid
from appliance.words import ReceiptStatus

MAX_APPROACHES = 3
TO_THE_MIDDLE = method("drag", "toTheMiddle")


class Click(Parameters):
    """Parameters of click."""

    index: int | None = None
    x: int | None = None
    y: int | None = None
    button: Literal["left", "right", "middle"] = "left"
    count: int = Field(1, ge=1, le=3)


class Hover(Parameters):
    """Parameters of hover."""

    index: int


class Drag(Parameters):
    """Parameters of drag."""

    from_index: int
    to_index: int


async def _click(context: ActionContext, parameters: Click) -> Receipt:
    if parameters.index is None:
        return await _click_at(context, parameters)
    browser = context.browser
    element = browser.element(parameters.index)
    await element.scroll_into_view()
    watch = await Watch.start(browser, element)
    refusal = _refusal(watch, element)
    spot = refusal or await _approach(browser, element)
    if isinstance(spot, Receipt):
        watch.stop()
        return spot
    await dispatch(browser, press_events(spot, parameters.button, parameters.count))
    effect = await finish(context, watch)
    if watch.target.get("type") in ("submit", "image"):
        effect = not_sent(effect)
    done = receipt(f"{_verb(parameters)} {named(element)}", effect, always_counts=bool(watch.target.get("picture")))
    return _with_state(done, effect.state)


async def _click_at(context: ActionContext, parameters: Click) -> Receipt:
    browser = context.browser
    if parameters.x is None or parameters.y is None:
        raise ActionInvalid("click needs index, or x and y.")
    spot = await from_picture(browser, parameters.x, parameters.y)
    watch = await Watch.start(browser)
    await dispatch(browser, click_events(spot, parameters.button, parameters.count))
    effect = await finish(context, watch)
    return receipt(f"{_verb(parameters)} at {parameters.x}, {parameters.y}", effect)


async def _hover(context: ActionContext, parameters: Hover) -> Receipt:
    browser = context.browser
    element = browser.element(parameters.index)
    await element.scroll_into_view()
    watch = await Watch.start(browser, element)
    spot = await _approach(browser, element)
    if isinstance(spot, Receipt):
        watch.stop()
        return spot
    return receipt(f"Moved the mouse over {named(element)}", await finish(context, watch))


async def _drag(context: ActionContext, parameters: Drag) -> Receipt:
    browser = context.browser
    source, target = browser.element(parameters.from_index), browser.element(parameters.to_index)
    await target.scroll_into_view()
    await source.scroll_into_view()
    start = await _approach(browser, source)
    end = await _free_spot(browser, target)
    if isinstance(start, Receipt) or isinstance(end, Receipt):
        return start if isinstance(start, Receipt) else cast("Receipt", end)
    watch = await Watch.start(browser, source)
    try:
        with_data = await drag(browser, source, start, end)
    except BaseException:
        watch.stop()
        raise
    kind = "Dragged and dropped" if with_data else "Dragged"
    return receipt(f"{kind} {named(source)} to {named(target)}", await finish(context, watch))


def _refusal(watch: Watch, element: Element) -> Receipt | None:
    """Return the receipt for an element that a click is no use for."""
    tag, kind, state = watch.target.get("tag"), watch.target.get("type"), watch.target.get("state", {})
    if state.get("disabled") == "true":
        return Receipt(ReceiptStatus.FAILED, f"{named(element)} is disabled, so it was not clicked.", ends_chain=True)
    if tag == "select":
        text = f"{named(element)} is a list: use select_dropdown (dropdown_options shows its entries)."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    if tag == "input" and kind == "color":
        text = f"{named(element)} takes a colour: use input with one such as #33aaff."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    if tag == "input" and kind == "file":
        text = f"{named(element)} takes a file: use upload_file."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    return None


async def _approach(browser: Browser, element: Element) -> Spot | Receipt:
    """Move the mouse over the element and return where, or the receipt that names what covers it.

    What reacts to the mouse coming or going may move or cover the element: the place is looked up again after the
    move, so that the press lands on it.
    """
    spot = await _free_spot(browser, element)
    if isinstance(spot, Receipt):
        # A bar that stays at an edge covers what lies there; in the middle the element may be free.
        await element.call(TO_THE_MIDDLE)
        spot = await _free_spot(browser, element)
    for _ in range(MAX_APPROACHES):
        if isinstance(spot, Receipt):
            return spot
        await dispatch(browser, [move_event(spot)])
        again = await _free_spot(browser, element)
        if again == spot:
            return spot
        spot = again
    return spot


async def _free_spot(browser: Browser, element: Element) -> Spot | Receipt:
    """Return where the element can be hit, or the receipt that names what covers it."""
    point = await element.click_point()
    if point.covered_by is not None:
        return await _blocked(browser, element, point.covered_by)
    return point.x, point.y


async def _blocked(browser: Browser, element: Element, cover: str) -> Receipt:
    parts = ", ".join(said(view) for view in await covering(browser, element))
    inside = f" (in it: {parts})" if parts else ""
    text = f"{named(element)} is covered by {cover}{inside}, so it was not clicked; close or move that first."
    return Receipt(ReceiptStatus.BLOCKED, text, ends_chain=True)


def _with_state(done: Receipt, state: dict[str, str]) -> Receipt:
    """Add the state of a box or switch, which matters also when it did not change."""
    words = [f"{name} is now {state[name]}" for name in ("checked", "pressed") if name in state]
    if not words or done.status not in (ReceiptStatus.OK, ReceiptStatus.NO_EFFECT):
        return done
    return replace(done, text=f"{done.text.rstrip('.')}; {', '.join(words)}.")


def _verb(parameters: Click) -> str:
    if parameters.button != "left":
        return f"{parameters.button.capitalize()}-clicked"
    return {1: "Clicked", 2: "Double-clicked", 3: "Triple-clicked"}[parameters.count]


CLICK = Action(
    "click",
    "Click an element by index, or a point of the screenshot by x and y. count 2 is a double click.",
    Click,
    _click,
)
HOVER = Action("hover", "Move the mouse over an element, to open menus or hints that show on hover.", Hover, _hover)
DRAG = Action("drag", "Drag one element onto another.", Drag, _drag)
