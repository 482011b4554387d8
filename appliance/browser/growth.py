"""Collects all links of a page that loads or draws some of them only as it is scrolled: to its end, by what happens."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from appliance.browser.cdp import CdpConnection, CdpError, Handler
from appliance.browser.documents import Frame, frames_of
from appliance.browser.effects import page_function
from appliance.browser.element import Element
from appliance.browser.frames import World
from appliance.browser.links import EVERY_LINK, LinkFilter, links_of
from appliance.browser.tab import Tab
from appliance.browser.waiting import Activity, Settling
from appliance.errors import ActionFailed
from appliance.store.links import FoundLink

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

MOST_SECONDS = 20.0
"""How long a page that goes on growing is scrolled."""
PARSING_SECONDS = 15.0
"""How long a document that still arrives is waited for."""
MOST_LINKS = 10_000
ROUND_SECONDS = 4.0
"""How long what a page loads at its end is waited for."""
IDLE_SECONDS = 0.12
LISTENING_SECONDS = 0.35
"""How long nothing must happen at the end; longer where scripts listen to scrolling, since they often wait a moment."""
SWEEP_SECONDS = 10.0
SCROLL_EVENTS = frozenset({"scroll", "scrollend", "wheel"})
OBJECTS = "pilothouse-scrolling"


@dataclass(frozen=True)
class Gathered:
    """Links in page order; `is_complete` is False when the page still grew when the time was up."""

    links: tuple[FoundLink, ...]
    is_complete: bool = True


@dataclass(frozen=True)
class Document:
    """A document that is scrolled, as what settling watches: the page's own without a world, else that of a frame."""

    tab: Tab
    activity: Activity
    world: World | None = None

    @property
    def closed(self) -> bool:
        """Whether the tab is gone."""
        return self.tab.closed

    @property
    def is_blocked(self) -> bool:
        """Whether a native dialog stops the page."""
        return self.tab.is_blocked

    async def run(self, function: str, *arguments: Any, timeout: float = 5.0) -> Any:
        """Run a function in the isolated world of the document."""
        return await self.tab.run(function, *arguments, timeout=timeout, world=self.world)


class Merging:
    """Links of several readings in page order: what a reading has anew comes after what it stood behind there."""

    def __init__(self) -> None:
        self.links: list[FoundLink] = []
        self._known: set[tuple[str, str, str]] = set()

    def add(self, found: tuple[FoundLink, ...]) -> None:
        """Take a reading in."""
        new: dict[tuple[str, str, str] | None, list[FoundLink]] = defaultdict(list)
        earlier = frozenset(self._known)
        last: tuple[str, str, str] | None = None
        for link in found:
            key = (link.url, link.text, link.frame)
            if key in earlier:
                last = key
            elif key not in self._known:
                self._known.add(key)
                new[last].append(link)
        if last is None:
            # Nothing in common: a list that keeps only what is in view was scrolled on.
            self.links += new[None]
        elif new:
            merged = new.pop(None, [])
            for link in self.links:
                merged.append(link)
                merged += new.pop((link.url, link.text, link.frame), [])
            self.links = merged


async def gather_links(browser: "Browser", wanted: LinkFilter = EVERY_LINK, within: Element | None = None) -> Gathered:
    """Scroll the current tab and its frames until no link is added, and return all that are wanted.

    Everything is scrolled back afterwards. Raises as `links_of`.
    """
    tab = browser.tab
    is_parsed = await _parsed(tab.activity)
    merging = Merging()
    merging.add(await links_of(tab, wanted, within))
    end = monotonic() + MOST_SECONDS

    async def read() -> bool:
        """Take in what there is now; False when it is too much."""
        merging.add(await links_of(tab, wanted, within))
        return len(merging.links) < MOST_LINKS

    documents = [Document(tab, tab.activity)]
    with _listening_to(browser.cdp, tab) as activity_of:
        try:
            is_complete = await _scroll_through(documents[0], read, end)
            for frame in await frames_of(tab):
                if wanted.frame in frame.url and (world := await _world_of(tab, frame)) is not None:
                    documents.append(Document(tab, activity_of(frame), world))
                    is_complete = await _scroll_through(documents[-1], read, end) and is_complete
        finally:
            for document in reversed(documents):
                await _attempt(document, "restore")
    return Gathered(tuple(merging.links), is_complete and (is_parsed or tab.activity.dom_ready))


async def _parsed(activity: Activity) -> bool:
    """Wait until the document has been read to its end, or for some seconds; returns whether it has."""
    end = monotonic() + PARSING_SECONDS
    while not activity.dom_ready and (left := end - monotonic()) > 0:
        await activity.wait(left)
    return activity.dom_ready


async def _scroll_through(document: Document, read: Callable[[], Awaitable[bool]], end: float) -> bool:
    """Scroll a document to its end until nothing is added any more; False when that did not come in time."""
    height: int | None = None
    patience = 0.0
    while monotonic() < end and not document.is_blocked:
        found = await _attempt(document, "sweep")
        if found is None or not found["alive"]:
            # It does not answer, or has no script that could add anything.
            return True
        if found["changed"] and not await read():
            return False
        if not found["end"]:
            continue
        if not found["moved"] and height in (None, found["height"]):
            # Nothing to scroll, or nothing came of it.
            return True
        height = found["height"]
        patience = patience or await _patience(document, has_areas=found["areas"])
        left = min(ROUND_SECONDS, max(0.1, end - monotonic()))
        await Settling(document, left, at_least=min(left, patience)).wait()
        if not await read():
            return False
    return False


async def _attempt(document: Document, function: str) -> Any:
    """Call a function of the library in a document; None when it cannot answer."""
    try:
        return await document.run(page_function("links", function), timeout=SWEEP_SECONDS)
    except (CdpError, ActionFailed):
        return None


async def _patience(document: Document, *, has_areas: bool) -> float:
    """Return how long to wait for a reaction, by whether the page's own scripts listen to it being scrolled."""
    if has_areas or document.world is not None:
        return LISTENING_SECONDS
    tab = document.tab
    try:
        targets = await asyncio.gather(
            *(
                tab.send("Runtime.evaluate", {"expression": name, "objectGroup": OBJECTS})
                for name in ("window", "document")
            )
        )
        answers = await asyncio.gather(
            *(
                tab.send("DOMDebugger.getEventListeners", {"objectId": target["result"]["objectId"]})
                for target in targets
            )
        )
    except (CdpError, ActionFailed):
        return LISTENING_SECONDS
    finally:
        tab.post("Runtime.releaseObjectGroup", {"objectGroup": OBJECTS})
    kinds = {listener["type"] for answer in answers for listener in answer["listeners"]}
    return LISTENING_SECONDS if kinds & SCROLL_EVENTS else IDLE_SECONDS


async def _world_of(tab: Tab, frame: Frame) -> World | None:
    """Return the world of a frame that is large enough for a list, brought into view; None for others."""
    try:
        world = await tab.frames.world(frame.id, frame.session_id)
        if not await tab.run(page_function("links", "isPanel"), world=world):
            return None
        # What is not drawn loads nothing.
        owner = await tab.send("DOM.getFrameOwner", {"frameId": frame.id})
        await tab.send("DOM.scrollIntoViewIfNeeded", {"backendNodeId": owner["backendNodeId"]})
    except (CdpError, ActionFailed):
        return None
    return world


@contextmanager
def _listening_to(cdp: CdpConnection, tab: Tab) -> Generator[Callable[[Frame], Activity]]:
    """Give what tells the activity of a frame, whose requests are listened to meanwhile if it has its own session."""
    activities: dict[str, Activity] = {}
    removers: list[Callable[[], None]] = []

    def activity_of(frame: Frame) -> Activity:
        if frame.session_id == tab.session_id:
            return tab.activity
        if frame.session_id in activities:
            return activities[frame.session_id]
        activity = activities[frame.session_id] = Activity(frame.id)
        for event, handler in activity.handlers().items():
            removers.append(cdp.on(event, _of_session(frame.session_id, handler)))
        cdp.post("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}, frame.session_id)
        return activity

    try:
        yield activity_of
    finally:
        for remove in removers:
            remove()
        for session_id in activities:
            cdp.post("Network.disable", None, session_id)


def _of_session(session_id: str, handler: Callable[[dict[str, Any]], None]) -> Handler:
    def take(params: dict[str, Any], session: str) -> None:
        if session == session_id:
            handler(params)

    return take
