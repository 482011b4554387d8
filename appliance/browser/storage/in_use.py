"""What a profile keeps, given to a browser and taken back: cookies at once, what sites store as they are opened.

Sites that are not opened cost nothing and come back as they were. What is taken back is read where a page of the site
is open, else in a blank document of it.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError
from appliance.browser.storage.arrivals import Arrivals
from appliance.browser.storage.cookies import CookieShelf
from appliance.browser.storage.live import Seen, read_live
from appliance.browser.storage.mirror import Mirror
from appliance.browser.storage.scripts import Kept
from appliance.browser.storage.visits import Visits
from appliance.browser.tab import Tab
from appliance.errors import BrowserLost, CaptureFailed
from appliance.profiles.jar import Jar, Origin, make_jar

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

READING_SECONDS = 6.0
"""Seconds from the beginning of a capture after which no more origins are visited."""


@dataclass(frozen=True)
class Failure:
    """An origin of which not everything was put back or taken: `reason` is a clause, without values."""

    origin: str
    reason: str


@dataclass(frozen=True)
class Captured:
    """The jar as the browser has it now. An origin that could not be read stands in it as it was put in."""

    jar: Jar
    failures: tuple[Failure, ...] = ()


class StorageInUse:
    """A jar in a browser, from `restore` until the browser goes; it can be captured again and again."""

    def __init__(self, browser: "Browser", jar: Jar) -> None:
        """Use `restore`."""
        self._browser = browser
        self._base = {one.origin: one for one in jar.origins}
        self._cookies = CookieShelf(browser.cdp)
        self._mirror = Mirror(browser.cdp)
        self._arrivals = Arrivals(browser.cdp, browser.tabs, self._base.values())
        self._opened: set[str] = set()
        self._settled: dict[str, Kept] = {}

    @classmethod
    async def restore(cls, browser: "Browser", jar: Jar) -> "StorageInUse":
        """Put the jar into a browser that has shown no page yet; raises BrowserLost.

        Cookies that the browser refuses are captured as they were.
        """
        in_use = cls(browser, jar)
        browser.gate.before_document = in_use._arrivals.before
        browser.tabs.on_tab = in_use._follow
        for tab in browser.tabs.everywhere():
            in_use._follow(tab)
        try:
            await in_use._cookies.put(jar.cookies)
        except CdpError as error:
            raise BrowserLost(f"The browser did not take the profile's cookies ({error.message}).") from error
        return in_use

    async def capture(self) -> Captured:
        """Return the jar as it is now; raises CaptureFailed or BrowserLost, and then there is none.

        Origins that do not answer within READING_SECONDS fail alone.
        """
        until = asyncio.get_running_loop().time() + READING_SECONDS
        try:
            cookies = await self._cookies.take()
        except CdpError as error:
            raise CaptureFailed(f"The browser did not give its cookies ({error.message}).") from error
        live = await read_live(self._browser.tabs.everywhere())
        newly_opened = self._arrivals.take_opened() | live.keys()
        self._opened |= newly_opened
        for origin in newly_opened:
            self._settled.pop(origin, None)
        visits = Visits(self._browser.cdp.address, self._browser.gate)
        await visits.read(sorted(self._opened - live.keys() - self._settled.keys()), until)
        self._settled |= visits.found
        if self._browser.lost.is_set():
            raise BrowserLost("The browser went away while its profile was taken from it.")
        failures: list[Failure] = []
        now = dict(self._base)
        for origin in sorted(self._opened):
            kept, problem = self._find(origin, live.get(origin, []), visits)
            if problem:
                failures.append(Failure(origin, problem))
            if kept is not None:
                now[origin] = kept
        self._base = {origin: kept for origin, kept in now.items() if not kept.is_empty}
        return Captured(make_jar(cookies, self._base.values()), tuple(failures))

    def close(self) -> None:
        """Leave the browser alone."""
        self._arrivals.close()
        self._mirror.close()
        self._browser.gate.before_document = None
        self._browser.tabs.on_tab = None

    def _follow(self, tab: Tab) -> None:
        opener = next((one for one in self._browser.tabs.everywhere() if one.target_id == tab.opener_id), None)
        self._mirror.follow(tab.session_id, opener.session_id if opener else "")

    def _find(self, origin: str, live: list[Seen], visits: Visits) -> tuple[Origin | None, str]:
        """Return what the origin keeps, None when that is not known, and what is wrong with that, if anything."""
        if origin in self._arrivals.problems:
            return None, self._arrivals.problems[origin]
        kept = live[0].kept if live else self._settled.get(origin)
        if kept is None:
            return None, visits.problems.get(origin, "it was not read")
        databases = kept.databases
        if databases is None or (self._arrivals.owes_databases(origin) and origin in self._base):
            databases = self._base[origin].databases if origin in self._base else []
        problem = f"{' and '.join(kept.left)[:200]} cannot leave the browser" if kept.left else ""
        return Origin(origin, kept.local, self._session(origin, live), databases), problem

    def _session(self, origin: str, live: list[Seen]) -> dict[str, str]:
        """Return the session storage of the tab in which it changed last, from its page if that is open."""
        last = self._mirror.session_of(origin)
        if last is None:
            return live[0].kept.session if live else {}
        session_id, entries = last
        return next((one.kept.session for one in live if one.session_id == session_id), entries)
