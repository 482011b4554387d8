"""When a page has settled: its documents, requests and mutations watched as events, with caps and without sleeps."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal, Protocol

from appliance.errors import BrowserLost

RELEVANT_REQUESTS = frozenset({"Document", "Script", "XHR", "Fetch", "Stylesheet"})
LONG_REQUEST_SECONDS = 2.0
"""A request that is still open after this is taken for a long poll, and not waited for."""


@dataclass(frozen=True)
class Mark:
    """A point in time of a tab, to ask later what has happened since."""

    tab_id: str
    count: int
    mutations: int
    document: str
    tabs_opened: int


@dataclass(frozen=True)
class Settled:
    """How the wait ended.

    `reason`: quiet, cap (still busy when time was up), dialog (one is open). `changed`: anything at all was seen since
    the mark: a mutation, request, navigation, tab, dialog or download. `navigated`: the main document is another.
    """

    reason: Literal["quiet", "cap", "dialog"]
    milliseconds: int
    changed: bool
    navigated: bool
    tab_changed: bool
    url: str


class Activity:
    """What one tab is doing, fed by events of its session. `count` rises with everything that may matter."""

    def __init__(self, main_id: str) -> None:
        """Begin with a document that has loaded."""
        self.count = 0
        self.document = ""
        self.status: int | None = None
        self.navigating: str | None = None
        self.dom_ready = True
        self.loaded = True
        self._main_id = main_id
        self._requests: dict[str, float] = {}
        self._statuses: dict[str, int] = {}
        self._waiters: set[asyncio.Future[None]] = set()

    def handlers(self) -> dict[str, Callable[[dict[str, Any]], None]]:
        """Return the handler of each event this listens to."""
        return {
            "Page.frameStartedNavigating": self._navigation_started,
            "Page.frameNavigated": self._navigated,
            "Page.navigatedWithinDocument": self._moved_within,
            "Page.frameStoppedLoading": self._stopped,
            "Page.domContentEventFired": self._dom_ready,
            "Page.loadEventFired": self._load,
            "Network.requestWillBeSent": self._request_started,
            "Network.responseReceived": self._answered,
            "Network.loadingFinished": self._request_ended,
            "Network.loadingFailed": self._request_ended,
        }

    @property
    def busy_until(self) -> float:
        """Until when (monotonic seconds) open requests are worth waiting for; 0 when there are none."""
        now = monotonic()
        fresh = [start for start in self._requests.values() if now - start < LONG_REQUEST_SECONDS]
        return max(fresh, default=-LONG_REQUEST_SECONDS) + LONG_REQUEST_SECONDS if fresh else 0.0

    def download_begun(self) -> None:
        """A navigation became a download: the document stays, and the file is not waited for."""
        if self.navigating is not None:
            self._requests.pop(self.navigating, None)
            self.navigating = None
        self.touch()

    def touch(self) -> None:
        """Something happened: wake whoever waits."""
        self.count += 1
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self, timeout: float) -> bool:
        """Return True at the next thing that happens, False when nothing did within `timeout` seconds."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(max(timeout, 0)):
                await waiter
        except TimeoutError:
            return False
        finally:
            self._waiters.discard(waiter)
        return True

    def next_change(self) -> "asyncio.Future[None]":
        """Return a future that is done at the next thing that happens."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        return waiter

    def _navigation_started(self, params: dict[str, Any]) -> None:
        if params["frameId"] == self._main_id and params.get("navigationType") not in (
            "sameDocument",
            "historySameDocument",
        ):
            self.navigating = params.get("loaderId", "")
            self.touch()

    def _navigated(self, params: dict[str, Any]) -> None:
        frame = params["frame"]
        if frame["id"] == self._main_id:
            self.document = frame.get("loaderId", "")
            self.status = self._statuses.pop(self.document, None)
            self._statuses.clear()
            self.navigating = None
            restored = params.get("type") == "BackForwardCacheRestore"
            self.dom_ready = self.loaded = restored
            self._requests.clear()
            self.touch()

    def _moved_within(self, _: dict[str, Any]) -> None:
        self.touch()

    def _stopped(self, params: dict[str, Any]) -> None:
        if params["frameId"] == self._main_id:
            self.navigating = None
            self.dom_ready = self.loaded = True
            self.touch()

    def _dom_ready(self, _: dict[str, Any]) -> None:
        self.dom_ready = True
        self.touch()

    def _load(self, _: dict[str, Any]) -> None:
        self.dom_ready = self.loaded = True
        self.touch()

    def frame_arrived(self, frame_id: str) -> None:
        """A frame got its document, in whatever process, or went away."""
        self._requests.pop(frame_id, None)
        self.touch()

    def _request_started(self, params: dict[str, Any]) -> None:
        kind, frame_id = params.get("type"), params.get("frameId", "")
        if kind == "Document" and frame_id == self._main_id:
            return
        if kind in RELEVANT_REQUESTS:
            # The end of a frame's document is told in the session of its new process: keep it by its frame.
            self._requests[frame_id if kind == "Document" else params["requestId"]] = monotonic()
            self.touch()

    def _answered(self, params: dict[str, Any]) -> None:
        if params.get("type") == "Document" and params.get("frameId") == self._main_id:
            status = int(params["response"]["status"])
            if params["loaderId"] == self.document:
                self.status = status
            else:
                self._statuses[params["loaderId"]] = status

    def _request_ended(self, params: dict[str, Any]) -> None:
        if self._requests.pop(params["requestId"], None) is not None:
            self.touch()


class Watched(Protocol):
    """What settling needs to know of a tab."""

    @property
    def activity(self) -> Activity:
        """What the document is doing."""
        ...

    @property
    def closed(self) -> bool:
        """Whether the tab is gone."""
        ...

    @property
    def is_blocked(self) -> bool:
        """Whether a native dialog stops the page."""
        ...

    async def run(self, function: str, *arguments: Any, timeout: float = ...) -> Any:
        """Run a function in the isolated world of the main document."""
        ...


QUIET = "(grace, quiet, cap) => eyes.quiet(grace, quiet, cap)"
GRACE_MS = 35
"""How long nothing must happen after an action that seems to do nothing."""
QUIET_MS = 60
"""How long nothing must happen once something did."""


NEW_DOCUMENT_SECONDS = 2.0
"""How much longer a new document may take to settle."""


class Settling:
    """One wait for a tab to settle."""

    def __init__(self, tab: Watched, max_seconds: float, at_least: float = 0.0) -> None:
        """Wait for `tab` at most `max_seconds`, and never less than `at_least`."""
        self._tab = tab
        self._activity = tab.activity
        self._start = monotonic()
        self._end = self._start + max_seconds
        self._earliest = self._start + at_least
        self._extended = False

    async def wait(self) -> Literal["quiet", "cap", "dialog"]:
        """Return when the tab is quiet, a dialog is open, or the time is up."""
        while True:
            if self._tab.is_blocked:
                return "dialog"
            if self._tab.closed:
                return "quiet"
            left = self._end - monotonic()
            if left <= 0:
                return "cap"
            count = self._activity.count
            if self._is_loading():
                self._grant_more_time()
                await self._activity.wait(left)
                continue
            until = self._activity.busy_until
            if until:
                await self._activity.wait(min(left, until - monotonic()))
                continue
            quiet = await self._wait_for_page(left)
            if quiet and self._activity.count == count and not self._tab.is_blocked:
                return "quiet"

    def _grant_more_time(self) -> None:
        """A new document may take longer than a change of the old one."""
        if not self._extended:
            self._extended = True
            self._end += NEW_DOCUMENT_SECONDS

    def _is_loading(self) -> bool:
        return self._activity.navigating is not None or not self._activity.dom_ready

    async def _wait_for_page(self, left: float) -> bool:
        """Wait until the document has no mutations for a while; False when something else came between."""
        wanted = max(0.0, self._earliest - monotonic())
        grace = max(GRACE_MS, round(wanted * 1000))
        change = self._activity.next_change()
        asking = asyncio.ensure_future(self._tab.run(QUIET, grace, QUIET_MS, round(left * 1000), timeout=left + 0.5))
        try:
            await asyncio.wait((change, asking), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()
            if not asking.done():
                asking.cancel()
        if not asking.done() or asking.cancelled():
            return False
        failure = asking.exception()
        if failure is None:
            return True
        if isinstance(failure, BrowserLost):
            raise failure
        # The document went away under the question, or the page is stuck: look again after the next event.
        await self._activity.wait(min(0.1, max(self._end - monotonic(), 0)))
        return False
