"""Reads many pages at once, in up to six real tabs beside the agent's own, which stays as it is."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from appliance.browser.cdp import CdpError
from appliance.browser.frames import is_world_gone
from appliance.browser.front import Front
from appliance.browser.idleness import Idleness
from appliance.browser.observation import Screenshot
from appliance.browser.rendering import NotRendered, Rendered, Wish, render
from appliance.browser.tab import DialogOpen, Tab
from appliance.errors import ActionFailed, ActionRefused
from appliance.pause import Pause

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

MOST_TABS = 6
FIRST_TABS = 3
"""Tabs that are opened at once; the others only when pages keep these waiting, as a browser process each costs time."""
MORE_TABS_AFTER = 0.4
ROOM = 0.25
"""Share of the processor's time that must be left over for another tab to make anything faster."""
MADE_UP = ("data:", "blob:", "about:")
"""How addresses begin that policy lets pass and that whoever names them may have made up, with what is read there."""


@dataclass(frozen=True)
class Read:
    """What came of one wish: what the page said, or why it could not be read. `picture` is what it looked like.

    `is_transient` says that another try may do better, `is_mute` that nothing at all came in time.
    """

    wish: Wish
    rendered: Rendered | None = None
    picture: Screenshot | None = None
    error: str = ""
    is_transient: bool = False
    is_mute: bool = False


class BulkReader:
    """Reads pages until `end`, a time of the run; entered as a context, whose end closes the tabs it has opened.

    `gap` returns the seconds to wait before a page is opened beside so many others, for the sake of other sessions.
    """

    def __init__(
        self,
        browser: "Browser",
        *,
        end: float,
        gap: Callable[[int], float],
        keeps_pictures: bool = True,
        pause: Pause | None = None,
    ) -> None:
        self._browser = browser
        self._end = end
        self._pause = pause or Pause()
        self._gap = gap
        self._front = Front(browser, keeps_pictures=keeps_pictures)
        self._free: list[Tab] = []
        self._open: set[Tab] = set()
        self._remove: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        self._browser.tabs.reading += 1
        self._remove = self._browser.cdp.on("Browser.downloadWillBegin", self._refuse_download)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()
        self._browser.tabs.reading -= 1
        if not self._browser.lost.is_set():
            await self._front.show(self._browser.tab)
            for tab in self._open:
                self._browser.tabs.close_apart(tab)

    async def read(
        self, wishes: Sequence[Wish], take: Callable[[Read], Awaitable[None]], *, most_tabs: int = MOST_TABS
    ) -> None:
        """Read the pages, several at once, and give each to `take` as it is done.

        Those that were not begun when the time was up are left out. Raises BrowserLost.
        """
        waiting = deque(wishes)
        count = min(most_tabs, len(wishes))
        done = asyncio.Event()
        working = [asyncio.create_task(self._work(number, count, waiting, take, done)) for number in range(count)]
        try:
            await asyncio.gather(*working)
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    async def _work(
        self,
        number: int,
        count: int,
        waiting: deque[Wish],
        take: Callable[[Read], Awaitable[None]],
        done: asyncio.Event,
    ) -> None:
        """Read one page after the other in a tab."""
        if number >= FIRST_TABS:
            await _wait_for_room(number - FIRST_TABS + 1, done)
        while waiting and self._pause.time() < self._end:
            await _wait(done, self._gap(count))
            await self._pause.wait()
            if not waiting:
                break
            wish = waiting.popleft()
            await take(await self._read(wish))
        done.set()

    async def _read(self, wish: Wish) -> Read:
        if wish.url.lower().startswith(MADE_UP):
            return Read(wish, error="it is no page of a site")
        try:
            self._browser.policy.check_url(wish.url)
        except ActionRefused as error:
            return Read(wish, error=error.message)
        tab = await self._tab()
        try:
            async with asyncio.timeout(wish.seconds):
                rendered = await render(tab, wish, self._front)
            read = Read(wish, rendered, self._front.take_picture(tab))
        except TimeoutError:
            reason = f"it showed nothing that could be read within {wish.seconds:g} s"
            read = Read(wish, error=reason, is_transient=True, is_mute=True)
        except NotRendered as error:
            read = Read(wish, error=error.message, is_transient=error.is_transient, is_mute=error.is_mute)
        except ActionRefused as error:
            read = Read(wish, error=error.message)
        except DialogOpen:
            read = Read(wish, error="its dialogs do not end", is_transient=True)
        except (ActionFailed, CdpError) as error:
            reason = "the page crashed" if tab.crashed else error.message
            if isinstance(error, CdpError) and not (tab.crashed or tab.closed) and is_world_gone(error):
                reason = "it was exchanged for another page again and again"
            read = Read(wish, error=reason, is_transient=True)
        self._put_back(tab, is_sound=not read.error)
        return read

    async def _tab(self) -> Tab:
        while self._free:
            tab = self._free.pop()
            if not tab.closed and not tab.crashed:
                return tab
        tab = await self._browser.tabs.create_apart()
        self._open.add(tab)
        return tab

    def _put_back(self, tab: Tab, *, is_sound: bool) -> None:
        if is_sound:
            self._free.append(tab)
            return
        # Whatever a page that failed is still busy with ends with its tab.
        self._open.discard(tab)
        self._browser.tabs.close_apart(tab)

    def _refuse_download(self, params: dict[str, Any], _: str) -> None:
        if str(params.get("frameId", "")) not in {tab.target_id for tab in self._browser.tabs}:
            self._browser.downloads.refuse(str(params["guid"]))


async def _wait_for_room(place: int, done: asyncio.Event) -> None:
    """Wait until another tab helps: when pages keep those there are waiting, and the processor does not."""
    idleness = Idleness()
    await _wait(done, MORE_TABS_AFTER * place)
    while not done.is_set() and idleness.share() < ROOM:
        await _wait(done, MORE_TABS_AFTER)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, at most so long."""
    if seconds > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
