"""Which of the tabs apart is in front of the others on the display: one at a time, while it is looked at."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError
from appliance.browser.observation import Screenshot
from appliance.browser.screenshot import take_small
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser


class Front:
    """The place in front. With `keeps_pictures` the tab that is read is taken a picture of."""

    def __init__(self, browser: "Browser", *, keeps_pictures: bool) -> None:
        self._browser = browser
        self._keeps_pictures = keeps_pictures
        self._turn = asyncio.Lock()
        self._pictures: dict[str, Screenshot] = {}

    @asynccontextmanager
    async def of(self, tab: Tab) -> AsyncGenerator[None]:
        """Wait for the turn of a tab, and bring it to the front."""
        async with self._turn:
            await self.show(tab)
            yield

    async def show(self, tab: Tab) -> None:
        """Bring a tab to the front."""
        with suppress(CdpError):
            await self._browser.cdp.send("Target.activateTarget", {"targetId": tab.target_id})

    async def picture(self, tab: Tab) -> None:
        """Take a picture of the tab in front, if wanted; one that cannot be had is left out."""
        if not self._keeps_pictures:
            return
        with suppress(ActionFailed, CdpError):
            await self._browser.pictures.conceal(tab)
            self._pictures[tab.target_id] = await take_small(tab)

    def take_picture(self, tab: Tab) -> Screenshot | None:
        """Return the picture of what was read last in a tab, once."""
        return self._pictures.pop(tab.target_id, None)
