"""Which numbered elements may be meant instead of one that is gone, or have to be used before one that is covered."""

from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError
from appliance.browser.effects import method, page_function
from appliance.browser.element import Element
from appliance.browser.observation import ElementView
from appliance.errors import ActionFailed, ElementGone

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

MOST = 3


async def alike(browser: "Browser", index: int) -> list[ElementView]:
    """Return up to three elements with the tag and name of one that is gone; empty when it was never there."""
    try:
        view = browser.element(index).view
    except ElementGone:
        return []
    tab = browser.tab
    try:
        references = await tab.run(page_function("alike", "find"), view.tag, view.name, MOST)
        world = await tab.frames.world()
    except (ActionFailed, CdpError):
        return []
    return [browser.renumbered(Element(tab, view, world, int(one))).view for one in references]


async def covering(browser: "Browser", element: Element) -> list[ElementView]:
    """Return up to three elements that were shown with a number and are part of what lies over the element."""
    try:
        references = await element.call(method("alike", "covers"))
    except ActionFailed:
        return []
    found: list[ElementView] = []
    for reference in references:
        number = browser.number_of(Element(browser.tab, element.view, element.world, int(reference)))
        if number is not None and number != element.view.index:
            found.append(browser.element(number).view)
    return found[:MOST]
