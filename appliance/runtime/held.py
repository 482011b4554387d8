"""A browser that is held: a leased slot with its display, Chromium, way out, connection and place for scripts.

It belongs to no run and no session until one adopts it, and can be adopted again.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from uuid import UUID

import structlog

from appliance.browser.connection import Browser
from appliance.browser.relay import Relay
from appliance.displays.slot import Slot
from appliance.errors import BrowserLost, BrowserUnavailable, DatabaseUnavailable, NotFound
from appliance.events import Notice
from appliance.persistence.records import SessionRecord
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import SessionFolders
from appliance.runtime.phases import Laps, attached, chromium_on, room_for_scripts, user_data_dir, way_out
from appliance.runtime.profile_use import ProfileStore, ProfileUse
from appliance.workspaces.sandbox import Sandbox

SCREEN = (1920, 1080)
"""Width and height in pixels of a display whose session asks for no other."""

CHROMIUM = "chromium"
"""The phase after which Chromium runs."""

log = structlog.get_logger()


def screen_of(session: SessionRecord) -> tuple[int, int]:
    """Return width and height of the display that the session wants, in pixels."""
    return (session.screen_width or SCREEN[0], session.screen_height or SCREEN[1])


class HeldBrowser:
    """One browser on a slot that is leased for it; closing it gives the slot back.

    `laps` are the milliseconds of the phases of its last start.
    """

    def __init__(self, equipment: Equipment, slot: Slot) -> None:
        self.slot = slot
        self.laps = Laps()
        self._equipment = equipment
        self._screen = SCREEN
        self._hidden: frozenset[str] = frozenset()
        self._undo = AsyncExitStack()
        self._opening: asyncio.Task[None] | None = None
        self._browser: Browser | None = None
        self._relay: Relay | None = None
        self._scripts: asyncio.Task[Sandbox | None] | None = None
        self._profile: ProfileUse | None = None
        self._given: tuple[ProfileStore, UUID, UUID | None] | None = None
        self._is_used = False

    @property
    def browser(self) -> Browser:
        """The connection; raises BrowserLost unless `open` has succeeded."""
        if self._browser is None:
            raise BrowserLost("The browser of this run is not open; start the task again.")
        return self._browser

    @property
    def is_usable(self) -> bool:
        """Whether the browser is open and, as far as is known, alive."""
        return self._browser is not None and not self._browser.lost.is_set()

    async def open(self, screen: tuple[int, int] = SCREEN, hidden: frozenset[str] = frozenset()) -> None:
        """Return once there is a living browser on a display of `screen` pixels, width and height.

        One that is there or just being started is taken as it is, if it fits; otherwise it is started anew, also when
        its pages may show a secret that is not `hidden` any more. Where display or Chromium ends under the start, there
        is one start more. Raises BrowserUnavailable or another MachineFault; what was begun is undone by `close`.
        """
        is_there = self.is_usable or self._is_opening
        fits = self._screen == screen and self._hidden <= hidden
        self._hidden = hidden
        if not (is_there and fits):
            self._screen = screen
            await self._start()
        try:
            await self._started()
        except (BrowserUnavailable, BrowserLost) as error:
            had_started = CHROMIUM in self.laps.times
            if not had_started and await self._equipment.pool.is_display_up(self.slot):
                raise
            log.warning("a browser ended under its start and is started anew", slot=self.slot.number, reason=str(error))
            await self._start()
            await self._started()

    async def suit_profile(self, session: SessionRecord, run_id: UUID) -> None:
        """Start the browser anew if it has worked with another profile than the session's, or without the one it has.

        What it changed in the other profile is saved there first; the feed of the run is told what is wrong with that.
        Raises what `open` raises.
        """
        if self._given is not None and self._given[1] == session.profile_id:
            return
        is_given, self._given = self._given is not None, None
        if self._is_used and (is_given or session.profile_id is not None):
            await self.settle_profile(session.id, run_id)
            await self._undo_all()
            await self.open(self._screen, self._hidden)

    async def adopt(self, session: SessionRecord) -> None:
        """Work for this session: in its allowed domains only, and with its folder for downloads.

        A browser that dies as it is taken over is started anew and given its profile again. The folder must be there.
        Raises BrowserLost, or what `open` and `give_profile` raise.
        """
        self._equipment.pool.rest(self.slot, is_resting=False)
        try:
            await self._take_on(session)
        except BrowserLost:
            log.warning("the browser ended as it was taken over; it is started anew", slot=self.slot.number)
            await self._undo_all()
            await self.open(self._screen, self._hidden)
            if self._given is not None:
                await self.give_profile(*self._given)
            await self._take_on(session)

    async def _take_on(self, session: SessionRecord) -> None:
        browser, relay = self.browser, self._relay
        assert relay is not None
        self._is_used = True
        relay.narrow(session.allowed_domains)
        folders = SessionFolders.of(self._equipment.settings, session.id)
        await browser.take_on(relay.policy, folders.downloads)

    async def give_profile(self, store: ProfileStore, profile_id: UUID, team_id: UUID | None) -> None:
        """Give the browser a profile of the team before its first page; one that has it keeps it as it is.

        Raises BrowserLost; MachineFault when the profile was deleted.
        """
        self._given = (store, profile_id, team_id)
        if self._profile is None:
            self._profile = await ProfileUse.begin(store, profile_id, team_id, self.browser)

    async def save_profile(self, session_id: UUID) -> Notice | None:
        """Take the profile back, if the browser has one, and merge it; returns what the feed should say, if anything.

        None of the agent's tabs notices anything, and no site is asked.
        """
        return None if self._profile is None else await self._profile.save(session_id)

    async def settle_profile(self, session_id: UUID, run_id: UUID) -> None:
        """Save the profile and tell the feed of the run what is wrong with that; nothing is raised."""
        if (notice := await self.save_profile(session_id)) is not None:
            with suppress(NotFound, DatabaseUnavailable):
                await self._equipment.feed.append(session_id, run_id, notice)

    async def open_sandbox(self) -> Sandbox | None:
        """Return where scripts run beside this browser, None on a machine that cannot have that."""
        return None if self._scripts is None else await asyncio.shield(self._scripts)

    def rest(self) -> None:
        """Note that nobody works in the browser for now."""
        self._equipment.pool.rest(self.slot)

    async def explain_loss(self) -> str:
        """Return a clause on why the browser has gone."""
        if await self._equipment.pool.is_display_up(self.slot):
            return "Chromium ended without warning"
        return f"The display of slot {self.slot.number} ended and took the browser with it"

    async def close(self) -> None:
        """End everything and give the slot back, also in the middle of a start; twice does no harm."""
        try:
            await self._undo_all()
        finally:
            await self._equipment.pool.release(self.slot)

    @property
    def _is_opening(self) -> bool:
        return self._opening is not None and not self._opening.done()

    async def _start(self) -> None:
        await self._undo_all()
        self._opening = asyncio.create_task(self._open(), name=f"opening slot {self.slot.number}")

    async def _started(self) -> None:
        if self._opening is not None:
            # Whoever stops waiting must not take the browser from another; `close` ends the start.
            await asyncio.shield(self._opening)

    async def _undo_all(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
        if self._profile is not None:
            self._profile.close()
        self._browser = self._relay = self._scripts = self._profile = None
        self._is_used = False
        await self._undo.aclose()

    async def _open(self) -> None:
        """Enter the phases one after the other."""
        equipment, slot, undo = self._equipment, self.slot, self._undo
        self.laps = laps = Laps()
        self._scripts = await undo.enter_async_context(room_for_scripts(equipment))
        folder = await undo.enter_async_context(user_data_dir(equipment))
        await equipment.pool.prepare(slot, *self._screen)
        laps.mark("display")
        relay = self._relay = await undo.enter_async_context(way_out(equipment))
        chromium = await undo.enter_async_context(chromium_on(equipment, slot, self._screen, folder, relay))
        laps.mark(CHROMIUM)
        self._browser = await undo.enter_async_context(attached(slot, self._screen, chromium, relay))
        laps.mark("attach")
