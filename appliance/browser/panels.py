"""Finds the panel of a page: the frame of another address that its content stands in, however late it comes."""

from time import monotonic

from appliance.browser.cdp import CdpError
from appliance.browser.documents import frames_of
from appliance.browser.effects import page_function
from appliance.browser.growth import Document
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

GRACE_SECONDS = 6.0
"""How long a page is given to put its panel in."""
LOADING_SECONDS = 8.0
"""How much longer the panel may take to load once it is in the page."""


async def find_panel(tab: Tab, address_part: str, since: float) -> Document:
    """Return the document of the frame whose address has this in it; `since` is when the page was there.

    Raises ActionFailed, naming the panels there are, when none comes in time.
    """
    while True:
        for frame in await frames_of(tab):
            if address_part not in frame.url:
                continue
            try:
                world = await tab.frames.world(frame.id, frame.session_id)
            except CdpError:
                # Its document is being replaced.
                continue
            return Document(tab, tab.activity, world)
        panels = await _panels(tab)
        is_there = any(address_part in panel for panel in panels)
        left = since + GRACE_SECONDS + (LOADING_SECONDS if is_there else 0) - monotonic()
        if left <= 0:
            there = f"; there are panels from: {', '.join(panels)[:300]}" if panels else ""
            raise ActionFailed(f"no panel from {address_part!r} came{there}")
        await tab.activity.wait(min(left, 1.0))


async def _panels(tab: Tab) -> list[str]:
    try:
        state = await tab.run(page_function("bulk", "state"))
    except (ActionFailed, CdpError):
        return []
    return [str(panel) for panel in state["panels"]]
