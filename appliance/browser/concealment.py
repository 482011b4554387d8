"""Values that must not be readable in pictures: wherever a page shows one, its own rendering is made to show dots."""

from functools import cache
from pathlib import Path

from appliance.browser.cdp import CdpError
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

SECONDS = 1.0
"""How long the documents of one process may take."""


async def conceal(tab: Tab, values: tuple[str, ...]) -> None:
    """Hide the values in every document of the tab; raises ActionFailed when the page's own cannot be reached."""
    places = [(tab.frames.main_id, tab.session_id), *tab.frames.sessions.items()]
    for frame_id, session_id in places:
        try:
            world = await tab.frames.world(frame_id, session_id)
            await tab.run(_script(), list(values), world=world, timeout=SECONDS)
        except (ActionFailed, CdpError) as error:
            if session_id == tab.session_id:
                raise ActionFailed("No picture: what must not be seen on this page could not be hidden.") from error


@cache
def _script() -> str:
    text = (Path(__file__).parent / "js" / "conceal.js").read_text()
    return text[text.index("(values)") :].strip()
