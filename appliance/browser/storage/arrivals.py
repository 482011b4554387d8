"""Puts back what an origin kept when its first document is about to come, before any script of the page runs.

An origin gets it once: what its pages delete afterwards stays deleted. Nothing is done for those that are never opened.
What a tab is told between the request for a document and its beginning reaches the new document before its scripts.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import structlog

from appliance.browser.cdp import CdpConnection, CdpError
from appliance.browser.frames import WORLD_NAME
from appliance.browser.storage.mirror import origin_of
from appliance.browser.storage.scripts import writing_script
from appliance.browser.tab import Tab
from appliance.browser.tabs import Tabs
from appliance.errors import ActionFailed, BrowserLost
from appliance.profiles.jar import Origin

Answer = asyncio.Future[dict[str, Any]]

_log = structlog.get_logger()


@dataclass(eq=False)
class _Waiting:
    """What an origin kept, and the answers of the tabs (by session) that got the script which puts it back.

    Once a page has come it is only about databases, until they are known to be there: what a page that is left has
    begun to put back does not come about.
    """

    kept: Origin
    is_begun: bool = False
    scripts: dict[str, Answer] = field(default_factory=dict[str, Answer])


class Arrivals:
    """What is still to be put back; `problems` say of which origins not all was."""

    def __init__(self, cdp: CdpConnection, tabs: Tabs, kept: Iterable[Origin]) -> None:
        """Listen for documents; `before` has to be asked about each."""
        self._opened: set[str] = set()
        self.problems: dict[str, str] = {}
        self._cdp = cdp
        self._tabs = tabs
        self._waiting = {one.origin: _Waiting(one) for one in kept}
        self._looking: set[asyncio.Task[None]] = set()
        self._end = cdp.on("Page.frameNavigated", self._navigated)

    def before(self, url: str, frame_id: str) -> None:
        """Make ready for the document of this address, which is about to come into the frame."""
        origin = origin_of(url)
        waiting = self._waiting.get(origin)
        if waiting is None:
            return
        everywhere = self._tabs.everywhere()
        # A document inside another site keeps its own apart; its session is none of these, and gets no script.
        tabs = [tab for tab in everywhere if tab.target_id == frame_id] or [
            tab for tab in everywhere if _site(origin_of(tab.url)) == _site(origin)
        ]
        for tab in tabs:
            self._add(waiting, tab)

    def owes_databases(self, origin: str) -> bool:
        """Whether pages of the origin have come, but nobody knows whether its databases were put back."""
        waiting = self._waiting.get(origin)
        return waiting is not None and waiting.is_begun

    def take_opened(self) -> set[str]:
        """Return the origins of which pages have come since this was asked last."""
        opened, self._opened = self._opened, set()
        return opened

    def close(self) -> None:
        """Stop listening."""
        self._end()
        for task in self._looking:
            task.cancel()

    def _navigated(self, params: dict[str, Any], session_id: str) -> None:
        tab = self._tabs.own(session_id)
        origin = str(params["frame"].get("securityOrigin", "")).rstrip("/")
        if tab is None or not origin.startswith(("http://", "https://")):
            return
        self._opened.add(origin)
        waiting = self._waiting.get(origin)
        if waiting is None:
            return
        if session_id not in waiting.scripts:
            if not waiting.is_begun:
                self.problems[origin] = "its page came before what it kept was put back"
                self._drop(waiting)
            return
        if not waiting.is_begun:
            self._drop(waiting)
            waiting = _Waiting(msgspec.structs.replace(waiting.kept, local={}, session={}), is_begun=True)
            if waiting.kept.databases:
                self._waiting[origin] = waiting
                self._add(waiting, tab)
        looking = asyncio.create_task(self._look(tab, waiting), name="looking after a restored origin")
        self._looking.add(looking)
        looking.add_done_callback(self._looking.discard)

    def _add(self, waiting: _Waiting, tab: Tab) -> None:
        if tab.session_id not in waiting.scripts:
            params = {"source": writing_script(waiting.kept), "worldName": WORLD_NAME}
            asking = self._cdp.post("Page.addScriptToEvaluateOnNewDocument", params, tab.session_id)
            waiting.scripts[tab.session_id] = asking

    def _drop(self, waiting: _Waiting) -> None:
        """Wait no more, and take the scripts away; as a rule the browser has named them by now."""
        if self._waiting.get(waiting.kept.origin) is waiting:
            del self._waiting[waiting.kept.origin]
        for session_id, asking in waiting.scripts.items():
            if asking.done():
                self._remove(session_id, asking)
            else:
                asking.add_done_callback(partial(self._remove, session_id))

    def _remove(self, session_id: str, added: Answer) -> None:
        if not added.cancelled() and added.exception() is None:
            params = {"identifier": added.result()["identifier"]}
            self._cdp.post("Page.removeScriptToEvaluateOnNewDocument", params, session_id)

    async def _look(self, tab: Tab, waiting: _Waiting) -> None:
        """Find out whether everything could be put back; a page that is left meanwhile does not tell."""
        try:
            problem = await tab.run("() => eyes.restored")
        except (CdpError, ActionFailed, BrowserLost):
            return
        if problem is not None and "AbortError" in str(problem):
            return
        self._drop(waiting)
        if problem is not None:
            origin, said = waiting.kept.origin, str(problem)[:120]
            self.problems[origin] = f"not all of it could be put back: {said}"
            _log.warning("an origin's storage was not put back", origin=origin, problem=said)


def _site(origin: str) -> str:
    """Return at least the registrable part of the host; more hosts may share it than are one site."""
    host = origin.partition("://")[2]
    if not host.startswith("["):
        host = host.rpartition(":")[0] or host
    return host if host.replace(".", "").isdigit() else ".".join(host.split(".")[-2:])
