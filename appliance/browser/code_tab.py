"""The tab in which people see a script being written and run: none of the agent's, and read by no page.

It stands in front of the agent's tab until that is needed, and then goes. What goes wrong with it never disturbs a run.
"""

import asyncio
from contextlib import suppress
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed, BrowserLost

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

MOST_SHOWN = 60_000
"""Characters of a script, and of what it printed, that the tab shows: the last ones."""


class Stage(StrEnum):
    """How far a script is, as the tab says it."""

    WRITING = "being written"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class CodeTab:
    """The place for scripts beside the agent's tabs; the tab itself comes with the first script and is made anew."""

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._tab: Tab | None = None
        self._turn = asyncio.Lock()

    @property
    def is_in_front(self) -> bool:
        """Whether it covers the agent's tab."""
        return self._tab is not None and not self._tab.closed

    async def show(self, name: str, code: str, stage: Stage, output: str = "") -> None:
        """Show a script in front; without effect where that cannot be done."""
        with suppress(ActionFailed, CdpError, BrowserLost):
            async with self._turn:
                tab = await self._open()
                shown = (name, code[-MOST_SHOWN:], stage.value, output[-MOST_SHOWN:])
                await tab.run(_script(), *shown)

    async def leave(self) -> None:
        """Give the place in front back to the agent's tab."""
        if not self.is_in_front:
            return
        async with self._turn:
            if not self.is_in_front:
                return
            self._tab = None
            with suppress(ActionFailed, CdpError, BrowserLost):
                current = self._browser.tab
                await self._browser.cdp.send("Target.activateTarget", {"targetId": current.target_id})
            # What the page opens next must not be taken for something of this tab.
            with suppress(CdpError, BrowserLost):
                await self._browser.tabs.end_apart()

    async def _open(self) -> Tab:
        if self._tab is None or self._tab.closed or self._tab.crashed:
            tab = await self._browser.tabs.create_apart()
            self._tab = tab
            await self._browser.cdp.send("Target.activateTarget", {"targetId": tab.target_id})
        return self._tab


@cache
def _script() -> str:
    text = (files("appliance.browser") / "js" / "code_tab.js").read_text()
    return text[text.index("(name,") :].strip()
