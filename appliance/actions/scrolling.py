"""Actions that move what is in view."""

from typing import Any

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, named, receipt
from appliance.browser.effects import Watch, method, page_function
from appliance.browser.element import Element
from appliance.browser.pointer import Spot, dispatch, wheel_event
from appliance.errors import ElementGone
from appliance.words import ReceiptStatus


class Scroll(Parameters):
    """Parameters of scroll."""

    down: bool = True
    pages: float = Field(1.0, gt=0, le=1000)
    index: int | None = None


class FindText(Parameters):
    """Parameters of find_text."""

    text: str = Field(min_length=1)


async def _scroll(context: ActionContext, parameters: Scroll) -> Receipt:
    browser = context.browser
    element = browser.element(parameters.index) if parameters.index is not None else None
    signed = parameters.pages if parameters.down else -parameters.pages
    found = await _run(context, element, "scrollBy", signed)
    where = f" in {named(element)}" if element else ""
    if found is None:
        what = f"What is around {named(element)}" if element else "The page"
        return Receipt(ReceiptStatus.FAILED, f"{what} cannot be scrolled.", ends_chain=True)
    direction = "down" if parameters.down else "up"
    if not found["moved"] and _may_listen_to_wheel(found, down=parameters.down):
        return await _turn_wheel(context, (found["x"], found["y"]), signed * found["height"])
    await browser.settle(2.0)
    try:
        after = await _run(context, element, "scrollBy", 0) or found
    except ElementGone:
        # A list that draws only what is in view has thrown the element away: what was measured at once stands.
        after = found
    moved = int(found["moved"]) or int(after["above"]) - int(found["above"])
    if not moved:
        end = "end" if parameters.down else "top"
        return Receipt(ReceiptStatus.NO_EFFECT, f"Did not scroll{where}: it is at the {end} already.")
    rest = f"{after['above']} px above and {after['below']} px below the visible part"
    text = f"Scrolled {direction} {abs(moved)} px{where}: now {rest}."
    return Receipt(ReceiptStatus.OK, text)


async def _turn_wheel(context: ActionContext, spot: Spot, distance: float) -> Receipt:
    """Turn the wheel on a page without anything to scroll: one that moves its content by itself listens to it."""
    watch = await Watch.start(context.browser)
    try:
        await dispatch(context.browser, [wheel_event(spot, distance)])
    except BaseException:
        watch.stop()
        raise
    effect = await finish(context, watch)
    if effect.is_visible:
        return receipt("Turned the wheel, as the page does not scroll", effect)
    return Receipt(ReceiptStatus.NO_EFFECT, "Did not scroll: it is at the end already.")


async def _find_text(context: ActionContext, parameters: FindText) -> Receipt:
    function = page_function("sight", "findText")
    found = await context.browser.tab.run(function, parameters.text)
    if not found["found"]:
        # In frames of other sites only then, as finding scrolls.
        answers = await context.browser.run_everywhere(function, parameters.text)
        found = next((answer.value for answer in answers if answer.value["found"]), found)
    if not found["found"]:
        return Receipt(ReceiptStatus.FAILED, f'The text "{parameters.text}" is not on the page.', ends_chain=True)
    await context.browser.settle(1.0)
    moved = f"scrolled by {found['moved']} px to it" if found["moved"] else "it was in view already"
    return Receipt(ReceiptStatus.OK, f'Found "{parameters.text}": {moved}; the line reads "{found["line"]}".')


async def _run(context: ActionContext, element: Element | None, function: str, *arguments: Any) -> Any:
    if element is not None:
        return await element.call(method("sight", function), *arguments)
    return await context.browser.tab.run(page_function("sight", function), *arguments)


def _may_listen_to_wheel(found: dict[str, Any], *, down: bool) -> bool:
    """Tell whether nothing is left to scroll that way in any case, so that only a page of its own kind could move."""
    return bool(found["isPage"]) and not found["above"] and not found["below"] and down


SCROLL = Action(
    "scroll",
    "Scroll the page by pages (may be a fraction), or the area an element is in; 1000 pages is to the end.",
    Scroll,
    _scroll,
)
FIND_TEXT = Action("find_text", "Scroll to the first place that shows a text.", FindText, _find_text)
