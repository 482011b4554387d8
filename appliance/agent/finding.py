"""Finds the elements of a recorded run on the page as it is now, with patience; opens closed menus once more."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.agent.replay_plan import Intent
from appliance.browser.cdp import CdpError
from appliance.browser.effects import page_function
from appliance.browser.matching import ElementKeys, Match, search
from appliance.errors import ActionFailed
from appliance.words import ReceiptStatus


@dataclass(frozen=True)
class Pace:
    """How patient a replay is: seconds to wait for an element, pauses before an action is tried again."""

    patience: float = 10.0
    pauses: tuple[float, ...] = (0.5, 1.0, 2.0)
    menu_patience: float = 1.0
    look_anyway: float = 0.5


class Finder:
    """Finds elements for one replay."""

    def __init__(self, context: ActionContext, registry: Registry, pace: Pace) -> None:
        self._context = context
        self._browser = context.browser
        self._registry = registry
        self._pause = context.pause
        self._pace = pace

    async def find(self, keys: ElementKeys, intent: Intent) -> Match:
        """Wait until the element is there; if it may lie in a menu that is closed again, open that once more."""
        patience = self._pace.patience if intent.opener is None else self._pace.menu_patience
        match = await self._wait_for(keys, patience)
        if match.found is None and intent.opener is not None:
            opened = await self._reopen(intent.opener)
            match = await self._wait_for(keys, self._pace.patience) if opened else match
        return match

    async def _reopen(self, opener: Intent) -> bool:
        """Do the opening action again; returns whether it worked."""
        match = await search(self._browser, opener.targets[0]) if opener.targets else Match(None)
        if match.found is None or match.found.element is None:
            return False
        arguments = {**opener.call.arguments, "index": self._browser.adopt(match.found.element)}
        receipt = await self._registry.run(self._context, self._registry.parse({opener.call.name: arguments}))
        return receipt.status in (ReceiptStatus.OK, ReceiptStatus.NO_EFFECT)

    async def _wait_for(self, keys: ElementKeys, patience: float) -> Match:
        deadline = self._pause.time() + patience
        while True:
            await self._pause.wait()
            match = await search(self._browser, keys)
            left = deadline - self._pause.time()
            if match.found is not None or left <= 0:
                return match
            await self.wait_for_change(min(left, self._pace.look_anyway))

    async def wait_for_change(self, seconds: float) -> None:
        """Wait until the tab or its document changes, at most so long."""
        tab = self._browser.tab
        happening = tab.activity.next_change()
        changing = asyncio.ensure_future(
            tab.run(page_function("keys", "changed"), round(seconds * 1000), timeout=seconds + 1)
        )
        waiting: set[asyncio.Future[Any]] = {happening, changing}
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if changing.done() and changing.exception() is not None and not happening.done():
            # A page that cannot be watched, as behind a dialog, leaves only the tab's own events.
            await asyncio.wait({happening}, timeout=seconds)
        for one in waiting:
            one.cancel()
            with suppress(asyncio.CancelledError, ActionFailed, CdpError):
                await one
