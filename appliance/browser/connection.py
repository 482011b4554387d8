"""The agent's browser: attached over one raw socket, its tabs followed, observed and given to the actions."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import structlog

from appliance.browser.cdp import LOST, CdpConnection, CdpError, Handler
from appliance.browser.collector import Collector, Reading
from appliance.browser.downloads import Downloads
from appliance.browser.element import Element
from appliance.browser.gate import Gate
from appliance.browser.observation import Observation, Screenshot, TabView
from appliance.browser.page_model import PageModel
from appliance.browser.policy import Policy
from appliance.browser.screenshot import Camera
from appliance.browser.tab import DialogView, Navigation, Tab
from appliance.browser.waiting import Activity, Mark, Settled, Settling
from appliance.content import Content
from appliance.errors import ActionFailed, BrowserLost, BrowserUnavailable, DisplayUnavailable, ElementGone

if TYPE_CHECKING:
    from playwright.async_api import Page

FOLLOW_SECONDS = 1.5
"""A tab that a page opens within this time after an input of ours was opened by it."""

Grab = Callable[[], Awaitable[Screenshot]]
"""Takes a picture of the display without the browser's help; raises DisplayUnavailable."""

_log = structlog.get_logger()


class Browser:
    """A Chromium the agent works in. `tab` is the current tab; `lost` is set when the browser has gone away."""

    def __init__(self, cdp: CdpConnection, policy: Policy, downloads_dir: Path | None, grab: Grab | None) -> None:
        """Take over an open socket; use `attach`."""
        self.cdp = cdp
        self.policy = policy
        self.lost = asyncio.Event()
        self.downloads = Downloads(cdp, downloads_dir)
        self._tabs: dict[str, Tab] = {}
        self._sessions: dict[str, Tab] = {}
        self._collectors: dict[str, Collector] = {}
        self._current: Tab | None = None
        self._tabs_opened = 0
        self._notes: list[str] = []
        self._reading = Reading()
        self._mark: Mark | None = None
        self._camera = Camera()
        self._grab = grab
        self._gate = Gate(cdp, policy, self._refused)
        self._watchers: list[asyncio.Task[None]] = []
        self._page_model: PageModel | None = None
        self._websocket_url = ""
        self._listen()

    @classmethod
    async def attach(
        cls,
        websocket_url: str,
        *,
        policy: Policy,
        downloads_dir: Path | None = None,
        chromium_exited: asyncio.Event | None = None,
        grab: Grab | None = None,
    ) -> "Browser":
        """Attach to the browser at a `ws://` address; raises BrowserUnavailable when it does not answer."""
        cdp = await CdpConnection.connect(websocket_url)
        browser = cls(cdp, policy, downloads_dir, grab)
        browser._websocket_url = websocket_url
        browser._watch(cdp.closed)
        if chromium_exited is not None:
            browser._watch(chromium_exited)
        try:
            await browser._set_up()
        except (CdpError, BrowserLost) as error:
            await browser.close()
            raise BrowserUnavailable(f"The browser could not be attached: {error.message}") from error
        return browser

    @property
    def tab(self) -> Tab:
        """The current tab; raises BrowserLost when there is none any more."""
        if self._current is None or self.lost.is_set():
            raise BrowserLost(LOST)
        return self._current

    @property
    def dialog(self) -> DialogView | None:
        """The native dialog that stops the current tab, if any."""
        return self._current.dialog if self._current is not None else None

    async def observe(self, *, with_screenshot: bool = True) -> Observation:
        """Read the current tab: numbered lines, tabs, scroll, and a screenshot taken at the same time.

        Never hangs: a page that does not answer within 2 s, an open dialog or a crashed tab gives an observation with
        a note and without lines. Raises BrowserLost.
        """
        start = monotonic()
        tab = self.tab
        mark = self._mark_of(tab)
        is_blank = tab.url == "about:blank"
        if with_screenshot and is_blank:
            # Nothing to see, but the first picture of a browser takes half a second: let that pass while others think.
            self.cdp.post("Page.captureScreenshot", {"format": "jpeg"}, tab.session_id)
        picture = asyncio.create_task(self._picture(tab)) if with_screenshot and not is_blank else None
        try:
            self._reading = await self._read(tab)
            screenshot, problem = await picture if picture else (None, "")
        finally:
            if picture is not None and not picture.done():
                picture.cancel()
        if self.lost.is_set():
            raise BrowserLost(LOST)
        reading = self._reading
        self._mark = replace(mark, mutations=reading.mutations)
        notes = [*self._notes, *reading.notes, *([problem] if problem else [])]
        self._notes.clear()
        tab.url, tab.title = reading.url or tab.url, reading.title or tab.title
        return Observation(
            url=tab.url,
            title=tab.title,
            tabs=self._tab_views(),
            lines=tuple(reading.lines),
            elements=reading.views,
            scroll=reading.scroll,
            fingerprint=reading.fingerprint,
            notes=tuple(notes),
            screenshot=screenshot,
            duration_ms=round((monotonic() - start) * 1000),
        )

    async def lines_from(self, line: int, max_chars: int = 20_000) -> tuple[str, ...]:
        """Return more lines of the page observed last, from number `line` on; their elements become usable."""
        collector = self._collectors[self.tab.target_id]
        return await collector.read_more(self._reading, line, max_chars)

    def element(self, index: int) -> Element:
        """Return the element with this number in the last observation; raises ElementGone when there is none."""
        element = self._reading.elements.get(index)
        if element is None:
            raise ElementGone(
                f"There is no element [{index}] in what was last seen of the page; use a number shown there."
            )
        return element

    async def mark(self) -> Mark:
        """Return the present point in time of the current tab, for `settle(since=…)`."""
        tab = self.tab
        mutations = -1
        with suppress(ActionFailed, CdpError):
            mutations = int(await tab.run("() => eyes.count()", timeout=1.0))
        return replace(self._mark_of(tab), mutations=mutations)

    def _mark_of(self, tab: Tab) -> Mark:
        opened = self._tabs_opened + len(self.downloads.all)
        return Mark(tab.target_id, tab.activity.count, -1, tab.activity.document, opened)

    async def settle(self, max_seconds: float = 3.0, *, at_least: float = 0.0, since: Mark | None = None) -> Settled:
        """Wait until the current tab is quiet, at most `max_seconds` (2 s more for a new document).

        What has changed is told in comparison with `since`, by default the last observation or settling.
        Costs about 40 ms when nothing happens. A tab that the page opened meanwhile is followed and waited for.
        """
        start = monotonic()
        tab = self.tab
        mark = since or self._mark or self._mark_of(tab)
        reason = await Settling(tab, max_seconds, at_least).wait()
        while (current := self.tab) is not tab:
            tab = current
            reason = await Settling(tab, max(start + max_seconds - monotonic(), 0.5)).wait()
        now = self._mark = await self.mark() if reason != "dialog" else None
        tab_changed = tab.target_id != mark.tab_id
        navigated = not tab_changed and tab.activity.document != mark.document
        same = now is not None and (now.count, now.mutations, now.tabs_opened) == (
            mark.count,
            mark.mutations,
            mark.tabs_opened,
        )
        changed = tab_changed or not same
        return Settled(reason, round((monotonic() - start) * 1000), changed, navigated, tab_changed, tab.url)

    async def list_tabs(self) -> tuple[TabView, ...]:
        """Return the open tabs, oldest first."""
        return self._tab_views()

    async def switch_tab(self, tab_id: str) -> Tab:
        """Make another tab the current one and bring it to the front; raises ActionFailed for an unknown id."""
        tab = self._find_tab(tab_id)
        self._current = tab
        with suppress(CdpError):
            await self.cdp.send("Target.activateTarget", {"targetId": tab.target_id})
        return tab

    async def close_tab(self, tab_id: str) -> None:
        """Close a tab; the one that opened it, or the newest, becomes current. The last one leaves an empty tab."""
        tab = self._find_tab(tab_id)
        if len(self._tabs) == 1:
            await self._create_tab()
        gone = asyncio.ensure_future(
            self.cdp.wait_for("Target.detachedFromTarget", lambda params, _: params.get("sessionId") == tab.session_id)
        )
        # A beforeunload question must not keep a tab open that the agent decided to close.
        await self.cdp.send("Target.closeTarget", {"targetId": tab.target_id})
        with suppress(CdpError):
            await gone
        if self._current is not None:
            with suppress(CdpError):
                await self.cdp.send("Target.activateTarget", {"targetId": self._current.target_id})

    async def open_tab(self, url: str) -> tuple[Tab, Navigation]:
        """Open an address in a new tab, which becomes the current one; raises ActionRefused."""
        self.policy.check_url(url)
        tab = self._current = await self._create_tab()
        if url == "about:blank":
            return tab, Navigation(url, url, None, None)
        return tab, await tab.navigate(url)

    async def read_content(self) -> Content:
        """Return what the current tab says, as Markdown and facts; raises ActionFailed when it cannot be read."""
        tab = self.tab
        html = await tab.run("() => eyes.html()", timeout=10.0)
        url = await tab.run("() => location.href")
        return await asyncio.to_thread(_read_html, html, url)

    async def playwright_page(self) -> "Page":
        """Return Playwright's page of the current tab; the first call starts Playwright (about 0.5 s, 115 MB).

        Raises BrowserUnavailable when it cannot attach, ActionFailed when it does not know the tab.
        """
        if self._page_model is None:
            self._page_model = await PageModel.attach(self._websocket_url)
            # Playwright sends downloads to a folder of its own when it attaches.
            await self.downloads.open()
        return await self._page_model.page(self.tab.target_id)

    async def close(self) -> None:
        """Let go of the browser, which stays as it is."""
        self.downloads.close()
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        if self._page_model is not None:
            await self._page_model.close()
        await self.cdp.close()

    # ---- setting up and following what happens ------------------------------------------------------------------

    async def _set_up(self) -> None:
        intercepting = self._gate.open()
        directing = asyncio.ensure_future(self.downloads.open())
        pages = [{"type": "page"}]
        self.cdp.post("Target.setDiscoverTargets", {"discover": True, "filter": pages})
        await self.cdp.send(
            "Target.setAutoAttach",
            # New tabs wait until they are set up, so that nothing of them is missed.
            {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": pages},
        )
        await intercepting
        await directing
        if not self._tabs:
            self._current = await self._create_tab()
        elif self._current is not None:
            await _wait_for_renderer(self._current)
        self._tabs_opened = 0

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
            self.cdp.on(event, handler)
        for event in Activity("").handlers():
            self.cdp.on(event, self._passing_on(event))

    def _passing_on(self, event: str) -> Handler:
        def take(params: dict[str, Any], session_id: str) -> None:
            tab = self._sessions.get(session_id)
            if tab is not None and tab.session_id == session_id:
                tab.take(event, params)

        return take

    def _watch(self, event: asyncio.Event) -> None:
        async def watch() -> None:
            await event.wait()
            self.lost.set()
            for tab in self._tabs.values():
                tab.activity.touch()

        self._watchers.append(asyncio.create_task(watch()))

    def _attached(self, params: dict[str, Any], session_id: str) -> None:
        info, new_session = params["targetInfo"], params["sessionId"]
        if session_id:
            tab = self._sessions.get(session_id)
            if tab is not None:
                self._sessions[new_session] = tab
                tab.frames.frame_attached(info["targetId"], new_session)
            return
        tab = Tab(self.cdp, self.policy, info, new_session)
        while any(other.tab_id == tab.tab_id for other in self._tabs.values()):
            tab.tab_id = f"{int(tab.tab_id, 16) + 1:04x}"[-4:]
        self._tabs[tab.target_id] = tab
        self._sessions[new_session] = tab
        self._collectors[tab.target_id] = Collector(tab)
        self._tabs_opened += 1
        tab.set_up()
        self._follow(tab)

    def _follow(self, tab: Tab) -> None:
        """Make a new tab current when the current one opened it because of an input of ours."""
        current = self._current
        if current is None:
            self._current = tab
            return
        is_ours = tab.opener_id in ("", current.target_id) and monotonic() - current.last_input < FOLLOW_SECONDS
        if is_ours:
            self._current = tab
        current.activity.touch()

    def _detached(self, params: dict[str, Any], _: str) -> None:
        gone = params["sessionId"]
        tab = self._sessions.pop(gone, None)
        if tab is None:
            return
        if tab.session_id != gone:
            tab.frames.session_ended(gone)
            self.cdp.end_session(gone, "The frame went away.")
            return
        del self._tabs[tab.target_id]
        del self._collectors[tab.target_id]
        tab.ended(crashed=False)
        if tab is self._current:
            opener = self._tabs.get(tab.opener_id)
            self._current = opener or next(reversed(self._tabs.values()), None)
            if self._current is not None:
                self._notes.append("The current tab was closed; this is the tab that is shown now.")

    def _info_changed(self, params: dict[str, Any], _: str) -> None:
        info = params["targetInfo"]
        tab = self._tabs.get(info["targetId"])
        if tab is not None:
            tab.url, tab.title = info["url"] or tab.url, info["title"]

    def _crashed(self, _: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is not None and tab.session_id == session_id:
            tab.ended(crashed=True)

    def _dialog_opened(self, params: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is not None:
            tab.dialog_opened(
                DialogView(params["type"], params["message"], params.get("defaultPrompt", ""), params["url"], tab)
            )

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
        else:
            tab.frames.frame_changed(frame["id"])
            tab.activity.frame_arrived(frame["id"])

    def _frame_detached(self, params: dict[str, Any], session_id: str) -> None:
        tab = self._sessions.get(session_id)
        if tab is not None:
            tab.frames.frame_changed(params["frameId"])
            tab.activity.frame_arrived(params["frameId"])

    def _download_begun(self, params: dict[str, Any], session_id: str) -> None:
        del session_id
        for tab in self._tabs.values():
            if tab.target_id == params.get("frameId"):
                tab.activity.download_begun()
            else:
                tab.activity.touch()

    def _refused(self, frame_id: str, is_document: bool, reason: str) -> None:
        _log.info("request refused by policy", reason=reason)
        if not is_document:
            return
        tab = self._tabs.get(frame_id)
        if tab is not None:
            tab.refusals.append(reason)
            tab.activity.touch()
        self._notes.append(f"A document was not loaded: {reason}")

    # ---- parts of observing and of tabs ---------------------------------------------------------------------------

    async def _read(self, tab: Tab) -> Reading:
        if tab.dialog is None and not tab.crashed:
            for _ in range(3):
                try:
                    return await self._collectors[tab.target_id].read()
                except ActionFailed as error:
                    if tab.dialog is None:
                        return Reading(
                            url=tab.url, title=tab.title, notes=[f"The page cannot be read: {error.message}"]
                        )
                    break
                except CdpError:
                    # A new document came between; give it the time to begin.
                    await Settling(tab, 1.0).wait()
        reading = Reading(url=tab.url, title=tab.title)
        if tab.dialog is not None:
            dialog = tab.dialog
            answer = f" (it proposes {dialog.default_prompt[:100]!r})" if dialog.default_prompt else ""
            reading.notes.append(
                f"A {dialog.kind} dialog is open and stops the page: {dialog.message[:500]!r}{answer}. Answer it first."
            )
        elif tab.crashed:
            reading.notes.append("The page in this tab has crashed; navigate to go on.")
        else:
            reading.notes.append("The page is being replaced by another; look again.")
        return reading

    async def _picture(self, tab: Tab) -> tuple[Screenshot | None, str]:
        problem = "No screenshot: a dialog stops the page." if tab.dialog is not None else ""
        if tab.crashed:
            problem = "No screenshot: the page has crashed."
        if not problem:
            try:
                return await self._camera.take(tab), ""
            except ActionFailed as error:
                problem = error.message
        if self._grab is None:
            return None, problem
        try:
            return await self._grab(), ""
        except DisplayUnavailable as error:
            return None, f"{problem} {error.message}"

    def _tab_views(self) -> tuple[TabView, ...]:
        return tuple(tab.view(is_current=tab is self._current) for tab in self._tabs.values())

    def _find_tab(self, tab_id: str) -> Tab:
        for tab in self._tabs.values():
            if tab.tab_id == tab_id.lower():
                return tab
        known = ", ".join(tab.tab_id for tab in self._tabs.values())
        raise ActionFailed(f"There is no tab {tab_id!r}; the open tabs are {known}.")

    async def _create_tab(self) -> Tab:
        made = await self.cdp.send("Target.createTarget", {"url": "about:blank"})
        # The event of its attachment comes before the answer.
        tab = self._tabs[made["targetId"]]
        await _wait_for_renderer(tab)
        return tab


async def _wait_for_renderer(tab: Tab) -> None:
    """Wait until a tab's renderer answers: one that is navigated while it is being set up may crash."""
    with suppress(ActionFailed, CdpError):
        await tab.run("() => true", timeout=2.0)


def _read_html(html: str, url: str) -> Content:
    from appliance.browser.reader import read_html  # noqa: PLC0415 - its libraries are heavy, most runs start without

    return read_html(html, url)
