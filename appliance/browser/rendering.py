"""Loads a page into a tab apart, waits by what happens until it really shows something, and takes what it says."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from appliance.browser.cdp import CdpError
from appliance.browser.documents import html_of, run_in_all
from appliance.browser.effects import page_function
from appliance.browser.growth import Document
from appliance.browser.links import EVERY_LINK, LinkFilter, links_of
from appliance.browser.panels import find_panel
from appliance.browser.pdf import fetch_pdf, read_pdf
from appliance.browser.tab import DialogOpen, Tab
from appliance.browser.waiting import Settling
from appliance.content import Content
from appliance.errors import ActionFailed
from appliance.store.links import FoundLink

if TYPE_CHECKING:
    from appliance.browser.front import Front

SUBSTANTIAL = 200
"""Characters with which a page counts as shown."""
TURN_SECONDS = 1.0
"""How long a page that shows little keeps the others from the front."""
THIN_SECONDS = 1.5
"""How long a page that has settled is given to show more than a few words."""
EMPTY_SECONDS = 6.0
"""How long a page that has settled is given to show anything at all."""
LINKED_SECONDS = 3.0
"""How long JSON-LD is waited for that pages of its kind have."""
PAGE_SECONDS = 25.0
"""How long a page may take in all."""
PATIENCE = 0.6
"""After what part of its time a page that is still being sent is read as far as it has come."""
MOST_TEXT = 60_000
MOST_LINKS = 80
MOST_HTML = 2_000_000
ERROR_PAGE = "chrome-error:"
"""How the address of the browser's own page begins that stands for one it could not load."""


@dataclass(frozen=True)
class Wish:
    """A page to be read within `seconds`; with `panel` only the frame whose address has that in it.

    `wants_linked` says, once the page is there, whether JSON-LD should be waited for that has not come.
    """

    url: str
    panel: str = ""
    wants_linked: Callable[[], bool] = lambda: False
    seconds: float = PAGE_SECONDS


@dataclass(frozen=True)
class Rendered:
    """What a page showed: `own` is the text of the page without its panels, whose addresses are `panels`.

    `is_alive` says that it has scripts, so that it might have shown more later; `has_waited` that JSON-LD was waited
    for.
    """

    content: Content
    text: str
    own: str
    links: tuple[FoundLink, ...]
    panels: tuple[str, ...]
    is_alive: bool
    has_waited: bool = False


class NotRendered(ActionFailed):
    """A page could not be read; `is_transient` says that another try may do better, `is_mute` that nothing came."""

    def __init__(self, message: str, *, is_transient: bool, is_mute: bool = False) -> None:
        super().__init__(message)
        self.is_transient = is_transient
        self.is_mute = is_mute


class _State(msgspec.Struct):
    url: str
    characters: int
    alive: bool
    panels: list[str]
    linked: int
    pdf: bool
    loaded: bool


class _Said(msgspec.Struct):
    url: str
    title: str
    text: str
    html: str
    linked: list[str]


async def render(tab: Tab, wish: Wish, front: "Front") -> Rendered:
    """Open the page and return what it says; raises NotRendered, ActionRefused, ActionFailed, CdpError."""
    patience_end = monotonic() + PATIENCE * wish.seconds
    navigation = await tab.load(wish.url)
    if navigation.is_download:
        raise NotRendered("it is a file to download, not a page", is_transient=False)
    if navigation.error is not None:
        raise NotRendered(navigation.error, is_transient=True)
    if navigation.note:
        raise NotRendered("the site did not answer", is_transient=True, is_mute=True)
    while not tab.activity.dom_ready and (left := patience_end - monotonic()) > 0:
        await tab.activity.wait(min(left, TURN_SECONDS))
        if tab.crashed or tab.closed:
            raise NotRendered("the page crashed", is_transient=True)
    status = tab.activity.status or 200
    if status >= 400:
        raise NotRendered(f"HTTP {status}", is_transient=status in (408, 429) or status >= 500)
    return await _Rendering(tab, wish, front, patience_end).finish()


class _Rendering:
    """One page on its way to being read; after `patience_end` it is read as it is."""

    def __init__(self, tab: Tab, wish: Wish, front: "Front", patience_end: float) -> None:
        self._tab = tab
        self._wish = wish
        self._front = front
        self._began = monotonic()
        self._patience_end = patience_end
        self._has_waited = False
        self._is_alive = False

    async def finish(self) -> Rendered:
        """Wait until the page shows something and return it."""
        document = Document(self._tab, self._tab.activity)
        # Once before its turn, as long as its scripts are still in it.
        state = await self._state(document)
        if not self._wish.panel and self._is_whole(state):
            self._front.pass_by(self._tab)
            return await self._take(document, state)
        if state.alive:
            # Beside the others, so that its turn is short.
            await Settling(document, TURN_SECONDS).wait()
        while True:
            async with self._front.of(self._tab):
                document, state = await self._look()
                is_ready = not state.pdf and self._is_ready(state)
            if state.pdf:
                break
            if is_ready and not self._lacks_linked(state):
                return await self._take(document, state)
            if is_ready:
                self._has_waited = True
                await self._run(document, "stated", round(LINKED_SECONDS * 1000))
        data = await fetch_pdf(self._tab)
        content = await asyncio.to_thread(read_pdf, data, state.url)
        return Rendered(content, content.markdown[:MOST_TEXT], "", (), (), is_alive=False)

    async def _look(self) -> tuple[Document, _State]:
        """Return the document that is to be read and how far it has come, after a turn in front at most."""
        document = Document(self._tab, self._tab.activity)
        if self._wish.panel:
            document = await find_panel(self._tab, self._wish.panel, self._began)
        state = await self._state(document)
        if state.pdf or self._is_whole(state):
            return document, state
        await Settling(document, TURN_SECONDS).wait()
        turn_end = monotonic() + TURN_SECONDS
        while state.panels and not self._tab.activity.loaded and (left := turn_end - monotonic()) > 0:
            await self._tab.activity.wait(left)
        state = await self._state(document)
        if state.characters < SUBSTANTIAL:
            await self._run(document, "shown", SUBSTANTIAL, round(TURN_SECONDS * 500))
            state = await self._state(document)
        return document, state

    def _is_whole(self, state: _State) -> bool:
        """Whether the page is as its server sent it, and nothing is to come."""
        return not state.pdf and not state.alive and state.characters >= SUBSTANTIAL and not state.panels

    def _is_ready(self, state: _State) -> bool:
        if state.characters >= SUBSTANTIAL:
            return True
        has_settled = state.loaded and not self._tab.activity.busy_until
        waited = monotonic() - self._began
        if not has_settled:
            return state.characters > 0 and monotonic() >= self._patience_end
        if state.characters or state.panels:
            return not state.alive or waited >= THIN_SECONDS
        if not state.alive or waited >= EMPTY_SECONDS:
            raise NotRendered("it shows nothing", is_transient=state.alive)
        return False

    def _lacks_linked(self, state: _State) -> bool:
        return state.alive and not state.linked and not self._has_waited and self._wish.wants_linked()

    async def _state(self, document: Document) -> _State:
        state = msgspec.convert(await self._run(document, "state"), _State)
        if state.url.startswith(ERROR_PAGE):
            raise NotRendered("it leads to a page that cannot be reached", is_transient=True)
        # A script may take itself out of the page once it has run.
        state.alive = self._is_alive = self._is_alive or state.alive
        return state

    async def _run(self, document: Document, function: str, *arguments: Any) -> Any:
        """Call a function of the library; one that a dialog interrupted is called again once it is closed."""
        source = page_function("bulk", function)
        while True:
            try:
                return await document.run(source, *arguments, timeout=10.0)
            except DialogOpen:
                while self._tab.is_blocked:
                    await self._tab.activity.wait(TURN_SECONDS)

    async def _take(self, document: Document, state: _State) -> Rendered:
        wanted = LinkFilter(frame=self._wish.panel) if self._wish.panel else EVERY_LINK
        is_panel = bool(self._wish.panel)
        said_text, links, inner, _ = await asyncio.gather(
            self._run(document, "page", MOST_TEXT, MOST_HTML, is_panel),
            links_of(self._tab, wanted),
            self._panel_texts(state) if not is_panel else _nothing(),
            self._front.picture(self._tab),
        )
        said = msgspec.json.decode(said_text, type=_Said)
        html = said.html
        if state.panels and not is_panel and len(html) < MOST_HTML:
            html = (await html_of(self._tab))[:MOST_HTML]
        html += "".join(f'<script type="application/ld+json">{block}</script>' for block in said.linked)
        content = await asyncio.to_thread(_read_html, html, said.url)
        if is_panel and said.title:
            content = replace(content, title=said.title)
        text = "\n\n".join([said.text, *inner])[:MOST_TEXT]
        panels = tuple(state.panels)
        return Rendered(content, text, said.text, links[:MOST_LINKS], panels, state.alive, self._has_waited)

    async def _panel_texts(self, state: _State) -> tuple[str, ...]:
        if not state.panels:
            return ()
        try:
            answers = await run_in_all(self._tab, page_function("bulk", "text"))
        except (ActionFailed, CdpError):
            return ()
        return tuple(str(answer.value) for answer in answers[1:] if answer.value)


async def _nothing() -> tuple[str, ...]:
    return ()


def _read_html(html: str, url: str) -> Content:
    from appliance.browser.reader import read_html  # noqa: PLC0415 - its libraries are heavy

    return read_html(html, url)
