"""Values that must not be readable in pictures: wherever a page shows one, its own rendering is made to show dots."""

from functools import cache
from pathlib import Path

from appliance.browser.cdp import CdpError
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

SECONDS = 1.0
"""How long the documents of one process may take."""


async def conceal(tab: Tab, values: tuple[str, ...]) -> str:
    """Hide the values in every document of the tab.

    Returns a sentence on why that could not be done, since no picture may be taken then; "" when it was.
    """
    places = [(tab.frames.main_id, tab.session_id), *tab.frames.sessions.items()]
    for frame_id, session_id in places:
        try:
            world = await tab.frames.world(frame_id, session_id)
            await tab.run(_script(), list(values), world=world, timeout=SECONDS)
        except (ActionFailed, CdpError):
            if session_id == tab.session_id:
                return "No screenshot: what must not be seen on this page could not be hidden."
    return ""


@cache
def _script() -> str:
    text = (Path(__file__).parent / "js" / "conceal.js").read_text()
    return text[text.index("(values)") :].strip()
