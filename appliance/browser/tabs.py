"""The tabs of a browser, kept by its events: which there are, which is current, and what befalls them."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import structlog

from appliance.browser.cdp import CdpConnection, Handler
from appliance.browser.gate import Refusal
from appliance.browser.observation import TabView
from appliance.browser.policy import Policy
from appliance.browser.tab import DialogView, Tab
from appliance.browser.waiting import Activity
from appliance.errors import ActionFailed

FOLLOW_SECONDS = 1.5
"""A tab that a page opens within this time after an input of ours, whose effect nobody measures, is due to it."""

MOST_REFUSALS = 500
END_SECONDS = 2.0

_log = structlog.get_logger()


class Tabs:
    """Open tabs, oldest first. `opened` counts every one there ever was; `notes` wait for the next observation.

    `refusals` are the requests that policy refused; `explain` says why the host of an address was not reached.
    Tabs apart are those in which pages are read in bulk: they are not among these and never become current, dialogs in
    them are closed at once, and what they open by themselves is closed again. `reading` counts who reads in such tabs.
    `on_tab` gets every new tab, those apart too, before anything happens in it.
    """

    def __init__(self, cdp: CdpConnection, policy: Policy) -> None:
        """Begin to listen; tabs arrive once the browser is asked to attach them."""
        self.current: Tab | None = None
        self.opened = 0
        self.notes: list[str] = []
        self.refusals: list[Refusal] = []
        self.explain: Callable[[str], str | None] = _unexplained
        self.reading = 0
        self.on_tab: Callable[[Tab], None] | None = None
        self._cdp = cdp
        self._policy = policy
        self._creating = 0
        self._creating_apart = 0
        self._apart: dict[str, Tab] = {}
        self._made_apart: set[str] = set()
        self._closing: set[str] = set()
        self._none_apart = asyncio.Event()
        self._tabs: dict[str, Tab] = {}
        self._sessions: dict[str, Tab] = {}
        self._listen()

    def __iter__(self) -> Iterator[Tab]:
        return iter(self._tabs.values())

    def __len__(self) -> int:
        return len(self._tabs)

    def views(self) -> tuple[TabView, ...]:
        """Return the tabs as shown to the model."""
        return tuple(tab.view(is_current=tab is self.current) for tab in self)

    def find(self, tab_id: str) -> Tab:
        """Return the tab with this short name; raises ActionFailed, naming those there are."""
        for tab in self:
            if tab.tab_id == tab_id.lower():
                return tab
        known = ", ".join(tab.tab_id for tab in self)
        raise ActionFailed(f"There is no tab {tab_id!r}; the open tabs are {known}.")

    async def create(self) -> Tab:
        """Open an empty tab, without making it current."""
        self._creating += 1
        try:
            # The event of its attachment comes before the answer.
            made = await self._cdp.send("Target.createTarget", {"url": "about:blank"})
        finally:
            self._creating -= 1
        return self._tabs[made["targetId"]]

    async def create_apart(self) -> Tab:
        """Open an empty tab apart, behind the current one."""
        self._creating_apart += 1
        try:
            made = await self._cdp.send("Target.createTarget", {"url": "about:blank", "background": True})
            self._made_apart.add(made["targetId"])
        finally:
            self._creating_apart -= 1
            if not self._creating_apart:
                self._sort_out()
        return self._apart[made["targetId"]]

    def use(self, policy: Policy) -> None:
        """Judge by another policy from now on, and forget what was refused by the one before."""
        self._policy = policy
        self.refusals.clear()
        for tab in self.everywhere():
            tab.use(policy)

    def close_apart(self, tab: Tab) -> None:
        """Close a tab apart, without waiting for it."""
        self._closing.add(tab.target_id)
        self._cdp.post("Target.closeTarget", {"targetId": tab.target_id})

    async def end_apart(self) -> None:
        """Close what is left of tabs apart and wait until they are gone, at most 2 s."""
        self._none_apart.clear()
        if not self._apart or self._cdp.closed.is_set():
            return
        for tab in self._apart.values():
            self.close_apart(tab)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self._none_apart.wait()

    def _sort_out(self) -> None:
        """Give back what came while a tab apart was made, and was not it."""
        for tab in [tab for tab in self._apart.values() if tab.target_id not in self._made_apart]:
            del self._apart[tab.target_id]
            tab.is_apart = False
            self._adopt(tab)

    def explain_failure(self, url: str) -> str | None:
        """Return why the host of an address was not reached, None when that is not known."""
        return self.explain(url)

    def touch(self) -> None:
        """Wake whoever waits for any tab."""
        for tab in self.everywhere():
            tab.activity.touch()

    def refused(self, refusal: Refusal) -> None:
        """Take note of a request that policy refused: of each document, and once of every site that a page asked."""
        is_told = len(self.refusals) >= MOST_REFUSALS or any(known.site == refusal.site for known in self.refusals)
        if is_told and not refusal.is_document:
            return
        _log.info("request refused by policy", reason=refusal.reason)
        if len(self.refusals) < MOST_REFUSALS:
            self.refusals.append(refusal)
        apart = self._apart.get(refusal.frame_id)
        if apart is not None:
            if refusal.is_document:
                apart.refusals.append(refusal.reason)
                apart.activity.touch()
            return
        if not refusal.is_document:
            self.notes.append(f"The page could not reach a site: {refusal.reason}")
            return
        tab = self._tabs.get(refusal.frame_id)
        if tab is not None:
            tab.refusals.append(refusal.reason)
            tab.activity.touch()
        self.notes.append(f"A document was not loaded: {refusal.reason}")

    def _listen(self) -> None:
        for event, handler in (
            ("Target.attachedToTarget", self._attached),
            ("Target.detachedFromTarget", self._detached),
            ("Target.targetInfoChanged", self._info_changed),
            ("Inspector.targetCrashed", self._crashed),
            ("Page.javascriptDialogOpening", self._dialog_opened),
            ("Page.javascriptDialogClosed", self._dialog_closed),
            ("Page.frameNavigated", self._frame_navigated),
            ("Page.frameDetached", self._frame_detached),
            ("Browser.downloadWillBegin", self._download_begun),
        ):
            self._cdp.on(event, handler)
        for event in Activity("").handlers():
            self._cdp.on(event, self._passing_on(event))

    def _passing_on(self, event: str) -> Handler:
        def take(params: dict[str, Any], session_id: str) -> None:
            tab = self.own(session_id)
            if tab is not None:
                tab.take(event, params)

        return take

    def everywhere(self) -> tuple[Tab, ...]:
        """Return all tabs there are, also those apart."""
        return (*self, *self._apart.values())

    def own(self, session_id: str) -> Tab | None:
        """Return the tab whose own session this is, not that of one of its frames."""
        tab = self._sessions.get(session_id)
        return tab if tab is not None and tab.session_id == session_id else None

    def _attached(self, params: dict[str, Any], session_id: str) -> None:
        info, new_session = params["targetInfo"], params["sessionId"]
        if session_id:
            tab = self._sessions.get(session_id)
            if tab is not None:
                self._sessions[new_session] = tab
                tab.frames.frame_attached(info["targetId"], new_session)
            return
        tab = Tab(self._cdp, self._policy, info, new_session)
        tab.explain = self.explain_failure
        self._sessions[new_session] = tab
        if self.on_tab is not None:
            self.on_tab(tab)
        tab.set_up()
        if self._creating_apart and not tab.opener_id:
            tab.is_apart = True
            self._apart[tab.target_id] = tab
        elif tab.opener_id in self._apart or (self.reading and not tab.opener_id and not self._creating):
            # Pages that are read open nothing; one may hide who opened it.
            self._apart[tab.target_id] = tab
            self._made_apart.add(tab.target_id)
            self.close_apart(tab)
        else:
            self._adopt(tab)

    def _adopt(self, tab: Tab) -> None:
        while any(other.tab_id == tab.tab_id for other in self):
            tab.tab_id = f"{int(tab.tab_id, 16) + 1:04x}"[-4:]
        self._tabs[tab.target_id] = tab
        self.opened += 1
        self._follow(tab)

    def _follow(self, tab: Tab) -> None:
        """Make a new tab current when the current one opened it because of an action of ours."""
        current = self.current
        if current is None:
            self.current = tab
            return
        is_due = current.is_acted_on or monotonic() - current.last_input < FOLLOW_SECONDS
        if self._creating:
            pass
        elif tab.opener_id in ("", current.target_id) and is_due:
            self.current = tab
        else:
            self.notes.append(f"Tab {tab.tab_id} opened by itself and was left in the background.")
        current.activity.touch()

    def _detached(self, params: dict[str, Any], _: str) -> None:
        gone = params["sessionId"]
        tab = self._sessions.pop(gone, None)
        if tab is None:
            return
        if tab.session_id != gone:
            tab.frames.session_ended(gone)
            self._cdp.end_session(gone, "The frame went away.")
            return
        if self._apart.pop(tab.target_id, None) is not None:
            self._made_apart.discard(tab.target_id)
            self._closing.discard(tab.target_id)
            tab.ended(crashed=False)
            if not self._apart:
                self._none_apart.set()
            return
        del self._tabs[tab.target_id]
        tab.ended(crashed=False)
        if tab is self.current:
            opener = self._tabs.get(tab.opener_id)
            self.current = opener or next(reversed(self._tabs.values()), None)
            if self.current is not None:
                self.notes.append("The current tab was closed; this is the tab that is shown now.")

    def _info_changed(self, params: dict[str, Any], _: str) -> None:
        info = params["targetInfo"]
        tab = self._tabs.get(info["targetId"]) or self._apart.get(info["targetId"])
        if tab is not None:
            tab.url, tab.title = info["url"] or tab.url, info["title"]

    def _crashed(self, _: dict[str, Any], session_id: str) -> None:
        tab = self.own(session_id)
        if tab is not None:
            tab.ended(crashed=True)

    def _dialog_opened(self, params: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is not None:
            tab.dialog_opened(
                DialogView(params["type"], params["message"], params.get("defaultPrompt", ""), params["url"], tab)
            )
            if tab.target_id in self._apart:
                # Leaving a page and being told something need no decision; whatever else it asks is not answered.
                accept = params["type"] in ("alert", "beforeunload")
                self._cdp.post("Page.handleJavaScriptDialog", {"accept": accept}, tab.session_id)

    def _dialog_closed(self, _: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is not None:
            tab.dialog_closed()

    def _frame_navigated(self, params: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is None:
            return
        frame = params["frame"]
        if frame["id"] == tab.target_id:
            tab.frames.forget_all()
            tab.url = frame.get("unreachableUrl") or frame["url"] + frame.get("urlFragment", "")
            if tab.target_id in self._closing:
                # Chromium forgets that it was to close a tab that is on its way to another page.
                self.close_apart(tab)
        else:
            tab.frame_changed(frame["id"])

    def _frame_detached(self, params: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is not None:
            tab.frame_changed(params["frameId"])

    def _download_begun(self, params: dict[str, Any], _: str) -> None:
        for tab in self.everywhere():
            if tab.target_id == params.get("frameId"):
                tab.activity.download_begun()
            else:
                tab.activity.touch()


def _unexplained(_: str) -> str | None:
    return None
