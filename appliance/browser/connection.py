"""The agent's browser: attached over one raw socket, its tabs followed, observed and given to the actions."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import structlog

from appliance.browser.cdp import LOST, CdpConnection, CdpError
from appliance.browser.code_tab import CodeTab
from appliance.browser.collector import VIEW_BUDGET, Collector, Reading
from appliance.browser.documents import Answer, html_of, run_in_all
from appliance.browser.downloads import Downloads
from appliance.browser.element import Element
from appliance.browser.gate import Gate, Refusal
from appliance.browser.links import links_of
from appliance.browser.observation import Observation, TabView
from appliance.browser.pdf import fetch_pdf, read_pdf, shows_pdf
from appliance.browser.pictures import Grab, Pictures
from appliance.browser.policy import Policy
from appliance.browser.relay import Relay
from appliance.browser.tab import DialogView, Navigation, Tab
from appliance.browser.tabs import Tabs
from appliance.browser.waiting import Mark, Settled, Settling
from appliance.content import Content
from appliance.errors import ActionFailed, BrowserLost, BrowserUnavailable, ElementGone
from appliance.store.links import FoundLink

FIRST_ADOPTED = 1_000_001
"""The number of the first element that is used without having been shown."""
_log = structlog.get_logger()


class Browser:
    """A Chromium the agent works in. `tab` is the current of its `tabs`; `lost` is set when it has gone away.

    Nothing of what `hide` names can be read in its pictures.
    """

    def __init__(self, cdp: CdpConnection, policy: Policy, downloads_dir: Path | None, grab: Grab | None) -> None:
        """Take over an open socket; use `attach`."""
        self.cdp = cdp
        self.policy = policy
        self.lost = asyncio.Event()
        self.downloads = Downloads(cdp, downloads_dir)
        self.tabs = Tabs(cdp, policy)
        self.code_tab = CodeTab(self)
        self._collectors: dict[str, Collector] = {}
        self._reading = Reading()
        self._adopted: dict[int, Element] = {}
        self._from_line = 0
        self._mark: Mark | None = None
        self.pictures = Pictures(grab)
        self.gate = Gate(cdp, policy, self.tabs.refused)
        self._watchers: list[asyncio.Task[None]] = []

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
        """Attach to the browser at a `ws://` address; raises BrowserUnavailable when it does not answer.

        A browser that was started with the flags of a relay gets the relay's policy, and `use_relay` afterwards.
        """
        cdp = await CdpConnection.connect(websocket_url)
        browser = cls(cdp, policy, downloads_dir, grab)
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
        if self.tabs.current is None or self.lost.is_set():
            raise BrowserLost(LOST)
        return self.tabs.current

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The requests that policy refused, oldest first; a site is told once, but for documents."""
        return tuple(self.tabs.refusals)

    def hide(self, values: Callable[[], tuple[str, ...]], carries_secret: Callable[[str], bool]) -> None:
        """Keep values out of pictures and names of files, and addresses that carry one in the allowed domains."""
        self.pictures.hidden = values
        self.downloads.carries_secret = carries_secret
        self.gate.carries_secret = carries_secret

    async def conceal(self) -> None:
        """Make the current tab show dots for what is to be hidden; raises ActionFailed when that cannot be done."""
        await self.pictures.conceal(self.tab)

    def use_relay(self, relay: Relay) -> None:
        """Tell the relay what was judged good, and be told what it refuses."""
        self.gate.on_pass = relay.expect
        self.tabs.explain = relay.problem_of
        relay.on_refusal = lambda address, reason: self.tabs.refused(Refusal(str(address), reason))

    async def take_on(self, policy: Policy, downloads_dir: Path) -> None:
        """Work by another policy and with another folder for downloads from now on; raises BrowserLost.

        Tabs with pages that this policy does not let be opened are closed.
        """
        self.policy = policy
        self.tabs.use(policy)
        asking = self.gate.use(policy)
        await self.tabs.end_apart()
        try:
            await self.downloads.move(downloads_dir)
            await asking
            for tab in [tab for tab in self.tabs if not policy.allows(tab.url)]:
                await self.close_tab(tab.tab_id)
        except CdpError as error:
            raise BrowserLost(f"The browser did not take on the task ({error.message}).") from error

    async def warm_up(self) -> None:
        """Take a first picture, which takes half a second longer than those after it; raises BrowserLost."""
        with suppress(CdpError):
            await self.cdp.send("Page.captureScreenshot", {"format": "jpeg"}, self.tab.session_id)

    @property
    def dialog(self) -> DialogView | None:
        """The native dialog that stops the current tab, if any."""
        return self.tabs.current.dialog if self.tabs.current is not None else None

    def look_from(self, line: int) -> None:
        """Let the next observation begin at this line, counted from 1 as the last one counted."""
        self._from_line = line

    async def recheck(self, index: int) -> str | None:
        """Return None when an element still is what it was when observed, else a sentence on what is different."""
        try:
            return await self.element(index).recheck()
        except ActionFailed as error:
            return error.message

    async def observe(self, *, with_screenshot: bool = True, room: int = VIEW_BUDGET) -> Observation:
        """Read the current tab: numbered lines, tabs, scroll, and a screenshot taken at the same time.

        A long page is shown around what is in view, in at most `room` characters; once from the line of `look_from` on.
        Never hangs: a page that does not answer within 5 s (30 s, if it was late before and reacts now), an open dialog
        or a crashed tab gives an observation with a note and without lines. Raises BrowserLost.
        """
        start = monotonic()
        await self.code_tab.leave()
        tab = self.tab
        from_line, self._from_line = self._from_line, 0
        mark = self._mark_of(tab)
        is_blank = tab.url == "about:blank"
        if with_screenshot and is_blank:
            # Nothing to see, but the first picture of a browser takes half a second: let that pass while others think.
            self.cdp.post("Page.captureScreenshot", {"format": "jpeg"}, tab.session_id)
        picture = asyncio.create_task(self.pictures.take(tab)) if with_screenshot and not is_blank else None
        try:
            self._reading = await self._read(tab, from_line, room)
            self._adopted.clear()
            screenshot, problem = await picture if picture else (None, "")
        finally:
            if picture is not None and not picture.done():
                picture.cancel()
        if self.lost.is_set():
            raise BrowserLost(LOST)
        reading = self._reading
        self._mark = replace(mark, mutations=reading.mutations)
        notes = [*self.tabs.notes, *self.downloads.take_news(), *reading.notes, *([problem] if problem else [])]
        if not reading.lines and not notes and await shows_pdf(tab):
            notes.append("The tab shows a PDF: extract reads its text, save_as_pdf keeps it as a file.")
        self.tabs.notes.clear()
        tab.url, tab.title = reading.url or tab.url, reading.title or tab.title
        return Observation(
            url=tab.url,
            title=tab.title,
            tabs=self.tabs.views(),
            lines=tuple(reading.lines),
            elements=reading.views,
            scroll=reading.scroll,
            fingerprint=reading.fingerprint,
            notes=tuple(notes),
            screenshot=screenshot,
            duration_ms=round((monotonic() - start) * 1000),
            first_line=reading.first_line,
            last_line=reading.last_line,
            total_lines=reading.total_lines,
        )

    def element(self, index: int) -> Element:
        """Return the element with this number in the last observation; raises ElementGone when there is none."""
        element = self._reading.elements.get(index) or self._adopted.get(index)
        if element is None:
            numbers = sorted(self._reading.elements)
            shown = f"the numbers shown go from {numbers[0]} to {numbers[-1]}" if numbers else "no element is shown"
            raise ElementGone(
                f"There is no element [{index}] in what was last seen of the page; {shown}.",
                lasting=f"There was no element [{index}].",
            )
        return element

    def number_of(self, element: Element) -> int | None:
        """Return the number with which an element that was found otherwise was last shown, None when it was not."""
        return next((number for number, known in self._reading.elements.items() if known.is_same(element)), None)

    def renumbered(self, element: Element) -> Element:
        """Return an element that was found otherwise under the number with which it is shown, now or next."""
        return element.numbered(self._collector(element.tab).number(element))

    def adopt(self, element: Element) -> int:
        """Return the number of an element that was found otherwise; a new one is good until the next observation."""
        for number, known in self._reading.elements.items():
            if known.is_same(element):
                return number
        number = FIRST_ADOPTED + len(self._adopted)
        self._adopted[number] = element.numbered(number)
        return number

    async def run_everywhere(self, function: str, *arguments: Any) -> list[Answer]:
        """Call a function in every document of the current tab, the page's own first; see `run_in_all`."""
        return await run_in_all(self.tab, function, *arguments)

    async def links(self) -> tuple[FoundLink, ...]:
        """Return the links of the current tab in page order, those of frames in their places; see `links_of`."""
        return await links_of(self.tab)

    def line_number(self, answer: Answer, place: int) -> int | None:
        """Return the line number, as `look_from` takes it, of a place that a document answered with."""
        return self._collector(self.tab).line_number(answer.world, place)

    async def _present_mark(self) -> Mark:
        tab = self.tab
        mutations = -1
        with suppress(ActionFailed, CdpError):
            mutations = int(await tab.run("() => eyes.count()", timeout=1.0))
        return replace(self._mark_of(tab), mutations=mutations)

    def _mark_of(self, tab: Tab) -> Mark:
        opened = self.tabs.opened + len(self.downloads.all)
        return Mark(tab.target_id, tab.activity.count, -1, tab.activity.document, opened)

    async def settle(self, max_seconds: float = 3.0, *, at_least: float = 0.0) -> Settled:
        """Wait until the current tab is quiet, at most `max_seconds` (2 s more for a new document).

        What has changed is told in comparison with the last observation or settling.
        Costs about 40 ms when nothing happens. A tab that the page opened meanwhile is followed and waited for.
        """
        start = monotonic()
        tab = self.tab
        mark = self._mark or self._mark_of(tab)
        reason = await Settling(tab, max_seconds, at_least).wait()
        while (current := self.tab) is not tab:
            tab = current
            reason = await Settling(tab, max(start + max_seconds - monotonic(), 0.5)).wait()
        now = self._mark = await self._present_mark() if reason != "dialog" else None
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
        return self.tabs.views()

    async def switch_tab(self, tab_id: str) -> Tab:
        """Make another tab the current one and bring it to the front; raises ActionFailed for an unknown id."""
        tab = self.tabs.find(tab_id)
        self.tabs.current = tab
        with suppress(CdpError):
            await self.cdp.send("Target.activateTarget", {"targetId": tab.target_id})
        return tab

    async def close_tab(self, tab_id: str) -> None:
        """Close a tab; the one that opened it, or the newest, becomes current. The last one leaves an empty tab."""
        tab = self.tabs.find(tab_id)
        if len(self.tabs) == 1:
            await self.tabs.create()
        gone = asyncio.ensure_future(
            self.cdp.wait_for("Target.detachedFromTarget", lambda params, _: params.get("sessionId") == tab.session_id)
        )
        # A beforeunload question must not keep a tab open that the agent decided to close.
        await self.cdp.send("Target.closeTarget", {"targetId": tab.target_id})
        with suppress(CdpError):
            await gone
        if self.tabs.current is not None:
            with suppress(CdpError):
                await self.cdp.send("Target.activateTarget", {"targetId": self.tabs.current.target_id})

    async def open_tab(self, url: str) -> tuple[Tab, Navigation]:
        """Open an address in a new tab, which becomes the current one; raises ActionRefused."""
        self.policy.check_url(url)
        tab = self.tabs.current = await self.tabs.create()
        if url == "about:blank":
            return tab, Navigation(url, url, None, None)
        return tab, await tab.navigate(url)

    async def read_content(self) -> Content:
        """Return what the current tab says, as Markdown and facts; raises ActionFailed when it cannot be read."""
        tab = self.tab
        if await shows_pdf(tab):
            return await asyncio.to_thread(read_pdf, await fetch_pdf(tab), tab.url)
        html = await html_of(tab)
        url = await tab.run("() => location.href")
        return await asyncio.to_thread(_read_html, html, url)

    async def close(self) -> None:
        """Let go of the browser, which stays as it is."""
        await self.tabs.end_apart()
        self.downloads.close()
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        await self.cdp.close()

    # ---- setting up and following what happens ------------------------------------------------------------------

    async def _set_up(self) -> None:
        intercepting = self.gate.open()
        pages = [{"type": "page"}]
        self.cdp.post("Target.setDiscoverTargets", {"discover": True, "filter": pages})
        # New tabs wait until they are set up, so that nothing of them is missed.
        attaching = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": pages}
        await asyncio.gather(self.cdp.send("Target.setAutoAttach", attaching), self.downloads.open())
        await intercepting
        if not self.tabs:
            self.tabs.current = await self.tabs.create()
        self.tabs.opened = 0

    def _watch(self, event: asyncio.Event) -> None:
        async def watch() -> None:
            await event.wait()
            self.lost.set()
            self.tabs.touch()

        self._watchers.append(asyncio.create_task(watch()))

    # ---- parts of observing and of tabs ---------------------------------------------------------------------------

    def _collector(self, tab: Tab) -> Collector:
        open_tabs = {one.target_id for one in self.tabs}
        for target_id in set(self._collectors) - open_tabs:
            del self._collectors[target_id]
        return self._collectors.setdefault(tab.target_id, Collector(tab))

    async def _read(self, tab: Tab, from_line: int, room: int) -> Reading:
        if tab.dialog is None and not tab.crashed:
            for _ in range(3):
                try:
                    return await self._collector(tab).read(from_line, room)
                except ActionFailed as error:
                    if tab.dialog is None:
                        return Reading(
                            url=tab.url, title=tab.title, notes=[f"The page cannot be read: {error.message}"]
                        )
                    break
                except CdpError:
                    # A new document came between; give it the time to begin.
                    await Settling(tab, 1.0).wait()
        reading = Reading(url=tab.url, title=tab.title, elements=self._collector(tab).elements)
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


def _read_html(html: str, url: str) -> Content:
    from appliance.browser.reader import read_html  # noqa: PLC0415 - its libraries are heavy, most runs start without

    return read_html(html, url)
