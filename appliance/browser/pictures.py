"""The picture of an observation: by the browser or else of the display, and never with what is to be hidden in it."""

from collections.abc import Awaitable, Callable

from appliance.browser.concealment import conceal
from appliance.browser.observation import Screenshot
from appliance.browser.screenshot import Camera
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed, DisplayUnavailable

Grab = Callable[[], Awaitable[Screenshot]]
"""Takes a picture of the display without the browser's help; raises DisplayUnavailable."""


class Pictures:
    """Takes pictures of tabs; `hidden` returns what must not be readable in them."""

    def __init__(self, grab: Grab | None) -> None:
        self.hidden: Callable[[], tuple[str, ...]] = tuple
        self._camera = Camera()
        self._grab = grab

    async def conceal(self, tab: Tab) -> None:
        """Make the tab show dots for what is to be hidden; raises ActionFailed when that cannot be done."""
        if values := self.hidden():
            await conceal(tab, values)

    async def take(self, tab: Tab) -> tuple[Screenshot | None, str]:
        """Return the picture, or None and a sentence on why there is none."""
        problem = "No screenshot: a dialog stops the page." if tab.dialog is not None else ""
        if tab.crashed:
            problem = "No screenshot: the page has crashed."
        if not problem:
            try:
                await self.conceal(tab)
                return await self._camera.take(tab), ""
            except ActionFailed as error:
                problem = error.message
        if self._grab is None or self.hidden():
            # Nothing can be hidden on the display itself.
            return None, problem
        try:
            return await self._grab(), ""
        except DisplayUnavailable as error:
            return None, f"{problem} {error.message}"
