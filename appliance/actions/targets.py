"""Takes down which elements an action is done to, so that they can be known again when the run is replayed."""

import asyncio

from appliance.actions.base import Parameters
from appliance.browser.cdp import CdpError
from appliance.browser.connection import Browser
from appliance.browser.matching import ElementKeys, take_keys, take_keys_at
from appliance.browser.pointer import from_picture
from appliance.errors import ActionFailed, ActionInvalid, ElementGone

TARGET_FIELDS = ("index", "from_index", "to_index", "container_index")
"""The parameters that name an element by its number."""


def target_fields(parameters: Parameters) -> tuple[str, ...]:
    """Return the parameters that name an element, in the order in which their keys are taken."""
    fields = type(parameters).model_fields
    return tuple(name for name in TARGET_FIELDS if name in fields and getattr(parameters, name) is not None)


async def take_targets(browser: Browser, parameters: Parameters) -> tuple[ElementKeys, ...]:
    """Return the keys of the elements the parameters name, by one command each; empty when one cannot be had.

    A point of the screenshot names what lies there. Raises BrowserLost.
    """
    names = target_fields(parameters)
    if browser.dialog is not None:
        return ()
    if not names:
        return await _take_at_point(browser, getattr(parameters, "x", None), getattr(parameters, "y", None))
    try:
        elements = [browser.element(getattr(parameters, name)) for name in names]
    except ElementGone:
        return ()
    keys = await asyncio.gather(*map(take_keys, elements))
    return tuple(one for one in keys if one is not None) if all(keys) else ()


async def _take_at_point(browser: Browser, x: int | None, y: int | None) -> tuple[ElementKeys, ...]:
    if x is None or y is None:
        return ()
    try:
        keys = await take_keys_at(browser, *await from_picture(browser, x, y))
    except (ActionFailed, ActionInvalid, CdpError):
        # The action itself says what is wrong with the point, or with the page.
        return ()
    return (keys,) if keys is not None else ()
