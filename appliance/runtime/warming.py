"""The warm slot: a blank browser waits on its display for the next run, while a slot is free and nobody waits for it.

One that dies is replaced, after a pause that grows as long as none lasts until a run takes it.
"""

import asyncio
from collections.abc import Callable

import structlog

from appliance.errors import BrowserLost, PilothouseError
from appliance.runtime.equipment import Equipment
from appliance.runtime.held import HeldBrowser
from appliance.runtime.phases import load_agents

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_AFTER_A_START = 2.0

log = structlog.get_logger()


class Warming:
    """Keeps one blank browser ready where WARM_SLOTS says so.

    `wake` is called when it is time to look whether another one can be had, and when a slot was given back.
    """

    def __init__(self, equipment: Equipment, wake: Callable[[], None]) -> None:
        self._equipment = equipment
        self._wake = wake
        self._wanted = equipment.settings.warm_slots > 0
        self._held: HeldBrowser | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._pause = 0.0
        self._not_before = 0.0

    @property
    def leaving(self) -> int:
        """How many slots are about to become free."""
        return len(self._leaving)

    @property
    def held(self) -> int:
        """How many slots are held for runs that are still to come."""
        return int(self._held is not None)

    def fill(self) -> None:
        """Begin to open a blank browser on a free slot, if there is one and it is time."""
        loop = asyncio.get_running_loop()
        if not self._wanted or self._held is not None or loop.time() < self._not_before:
            return
        slot = self._equipment.pool.try_lease()
        if slot is None:
            return
        held = self._held = HeldBrowser(self._equipment, slot)
        held.rest()
        self._keeping = asyncio.create_task(self._keep(held), name=f"warm slot {slot.number}")

    def take(self) -> HeldBrowser | None:
        """Return the blank browser, which may still be about to open; it belongs to the caller from then on."""
        held, self._held = self._held, None
        if held is None or self._keeping is None:
            return None
        self._keeping.cancel()
        self._pause = 0.0
        # The next one does not take the processor from the run that starts now.
        self._fill_after(_AFTER_A_START)
        return held

    async def close(self) -> None:
        """Close the blank browser and want none any more; returns when it is gone."""
        self._wanted = False
        if (held := self.take()) is not None:
            self._let_go(held)
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _keep(self, held: HeldBrowser) -> None:
        """Open the browser, make it ready for a first step, and wait until it dies."""
        try:
            await held.open()
            await asyncio.to_thread(load_agents)
            await held.browser.warm_up()
            log.info("a blank browser waits for the next run", slot=held.slot.number, milliseconds=held.laps.times)
            await held.browser.lost.wait()
            raise BrowserLost(f"{await held.explain_loss()} while it waited for a run.")
        except (PilothouseError, OSError) as error:
            self._pause = min(max(_FIRST_PAUSE, 2 * self._pause), _LONGEST_PAUSE)
            log.warning("there is no blank browser", slot=held.slot.number, reason=str(error), again_in=self._pause)
            if self._held is held:
                self._held = None
                self._fill_after(self._pause)
                self._let_go(held)

    def _fill_after(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._not_before = loop.time() + seconds
        # A little later, so that it is time by then.
        loop.call_later(seconds + 0.01, self._wake)

    def _let_go(self, held: HeldBrowser) -> None:
        leaving = asyncio.create_task(held.close(), name=f"leaving slot {held.slot.number}")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._left)

    def _left(self, leaving: "asyncio.Task[None]") -> None:
        self._leaving.discard(leaving)
        if not leaving.cancelled() and (fault := leaving.exception()) is not None:
            log.error("a blank browser did not come to a clean end", exc_info=fault)
        self._wake()
