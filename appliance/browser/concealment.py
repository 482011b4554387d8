"""Values that must not be readable in pictures: wherever a page shows one, its own rendering is made to show dots."""

from functools import cache
from pathlib import Path

from appliance.browser.cdp import CdpError
from appliance.browser.documents import run_in_all
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed


async def conceal(tab: Tab, values: tuple[str, ...]) -> None:
    """Hide the values in every document of the tab; raises ActionFailed when the page's own cannot be reached."""
    try:
        await run_in_all(tab, _script(), list(values))
    except (ActionFailed, CdpError) as error:
        raise ActionFailed("No picture: what must not be seen on this page could not be hidden.") from error


@cache
def _script() -> str:
    text = (Path(__file__).parent / "js" / "conceal.js").read_text()
    return text[text.index("(values)") :].strip()
