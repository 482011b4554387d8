"""Which of the tabs apart is in front of the others on the display: one at a time, while it is looked at."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError
from appliance.browser.observation import Screenshot
from appliance.browser.screenshot import take_glimpse, take_small
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

GLANCE_SECONDS = 0.25
"""How long a tab that is shown in passing stays in front at least."""


class Front:
    """The place in front. With `keeps_pictures` the tab that is read is taken a picture of."""

    def __init__(self, browser: "Browser", *, keeps_pictures: bool) -> None:
        self._browser = browser
        self._keeps_pictures = keeps_pictures
        self._turn = asyncio.Lock()
        self._shown_at = 0.0
        self._pictures: dict[str, Screenshot] = {}

    @asynccontextmanager
    async def of(self, tab: Tab) -> AsyncGenerator[None]:
        """Wait for the turn of a tab, and bring it to the front."""
        async with self._turn:
            await self.show(tab)
            self._shown_at = monotonic()
            yield

    async def show(self, tab: Tab) -> None:
        """Bring a tab to the front."""
        with suppress(CdpError):
            await self._browser.cdp.send("Target.activateTarget", {"targetId": tab.target_id})

    def pass_by(self, tab: Tab) -> None:
        """Show a tab that need not be in front to be read, unless another is in front or has only just been shown."""
        if not self._turn.locked() and monotonic() >= self._shown_at + GLANCE_SECONDS:
            self._shown_at = monotonic()
            self._browser.cdp.post("Target.activateTarget", {"targetId": tab.target_id})

    async def picture(self, tab: Tab) -> None:
        """Take a picture of the tab, if wanted; one that cannot be had is left out."""
        if not self._keeps_pictures:
            return
        with suppress(ActionFailed, CdpError):
            self._pictures[tab.target_id] = await self._glimpse(tab) or await self._look_at(tab)

    async def _glimpse(self, tab: Tab) -> Screenshot | None:
        # What is to be hidden may be drawn already.
        if self._browser.pictures.hidden():
            return None
        with suppress(ActionFailed, CdpError):
            return await take_glimpse(self._browser.cdp, tab)
        return None

    async def _look_at(self, tab: Tab) -> Screenshot:
        async with self.of(tab):
            await self._browser.pictures.conceal(tab)
            return await take_small(tab)

    def take_picture(self, tab: Tab) -> Screenshot | None:
        """Return the picture of what was read last in a tab, once."""
        return self._pictures.pop(tab.target_id, None)
