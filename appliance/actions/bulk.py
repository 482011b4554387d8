"""The action that reads many pages in one step: found links or given addresses, with rows drafted from them."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlsplit

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.envelope import envelope
from appliance.actions.links import addresses_of
from appliance.actions.page_files import DRAFT_FILE, PAGES_FILE, coverage_of, write_pages, write_rows
from appliance.browser.bulk import MOST_TABS, BulkReader, Read
from appliance.browser.rendering import Rendered, Wish
from appliance.errors import ActionFailed
from appliance.store.drafting import draft_rows
from appliance.store.evidence import Sighting
from appliance.store.pages import PageRead
from appliance.store.texts import page_key
from appliance.words import ReceiptStatus

PAGES_PER_CALL = 48
TOTAL_SECONDS = 420.0
RESERVE_SECONDS = 30.0
"""What is left of the whole time for pages that have begun when no more are begun."""
MUTE_SECONDS = 8.0
"""How long a page is given the second time that let nothing at all be seen the first time."""
SHELLS = 3
"""So many pages with the same text stand for an empty frame around what they differ in."""
SHELL_TEXT = 1_500
VAIN_WAITS = 2
"""After so many pages that JSON-LD was waited for in vain no more of them are kept waiting."""
NAMED_DEAD = 5
SHOWN_UNWRITTEN = 24_000
"""Characters that are shown of pages that could not be written to a file."""


class ReadPages(Parameters):
    """Parameters of read_pages."""

    urls: list[str] | None = Field(None, max_length=2_000)
    frame_url_contains: str | None = Field(None, min_length=1)


async def _read_pages(context: ActionContext, parameters: ReadPages) -> Receipt:
    wanted = _chosen(context, parameters)
    await context.browser.code_tab.leave()
    reading = _Reading(context, wanted, context.links.panel)
    await _tell_pressure(context, len(wanted))
    try:
        await reading.run()
    finally:
        reading.settle()
    if not reading.pages and wanted:
        raise ActionFailed("There was no time to read any page; try again.")
    return await _hand_over(context, reading)


def _chosen(context: ActionContext, parameters: ReadPages) -> list[str]:
    """Return the addresses to be read now; what is beyond the limit waits in the queue, before what waited there."""
    links = context.links
    if parameters.urls is not None:
        wanted = _pages_of(url.strip() for url in parameters.urls if url.strip())
        waiting = [url for url in links.queue if url not in set(wanted)]
        links.panel = parameters.frame_url_contains or ""
    else:
        wanted, waiting, had = links.unread(links.queue), [], len(links.queue)
        if links.unwritten and not wanted:
            links.queue = []
            return []
        if had and not wanted:
            links.queue = []
            raise ActionFailed("All pages that waited were read already; name urls to read one again.")
        links.panel = parameters.frame_url_contains or links.panel
    if not wanted:
        raise ActionFailed("No page waits to be read: collect links with find_links first, or name urls.")
    links.queue = [*wanted[PAGES_PER_CALL:], *waiting]
    return wanted[:PAGES_PER_CALL]


def _pages_of(urls: Iterable[str]) -> list[str]:
    """Return the addresses of different pages: of those that differ in a place of the page only, the first."""
    pages: dict[str, str] = {}
    for url in urls:
        pages.setdefault(page_key(url), url)
    return list(pages.values())


class _Reading:
    """The pages of one call, read and read again where that helps; `pages` are in the order asked for.

    `unwritten` says why they could not be written to a file, if so; they are kept for the next call then.
    """

    def __init__(self, context: ActionContext, wanted: Sequence[str], panel: str) -> None:
        self._context = context
        self._wanted = wanted
        self._panel = panel
        self._reads: dict[str, Read] = {}
        self._pictures: dict[str, str | None] = {}
        self._vain = 0
        self._is_settled = False
        self.unwritten = ""

    @property
    def pages(self) -> list[PageRead]:
        """What came of each address that was begun."""
        return [self._page(self._reads[url]) for url in self._wanted if url in self._reads]

    async def run(self) -> None:
        """Read everything as far as the time goes."""
        context = self._context
        pause = context.pause
        end = pause.time() + TOTAL_SECONDS - RESERVE_SECONDS
        gap = context.pressure.gap
        keeps_pictures = not gap(MOST_TABS)
        browser = context.browser
        async with BulkReader(browser, end=end, gap=gap, keeps_pictures=keeps_pictures, pause=pause) as reader:
            await reader.read([self._wish(url) for url in self._wanted], self._take)
            if panel_wishes := self._shells():
                await reader.read(panel_wishes, self._take_better)
            if unlinked := self._unlinked():
                await reader.read([self._wish(url) for url in unlinked], self._take_better)
            failed = [read for read in self._reads.values() if read.error and read.is_transient]
            mute = [replace(read.wish, seconds=MUTE_SECONDS) for read in failed if read.is_mute]
            await reader.read(mute, self._take_better)
            await reader.read([read.wish for read in failed if not read.is_mute], self._take_better, most_tabs=1)

    def settle(self) -> None:
        """Keep what was read, and put what was not begun back into the queue; what is kept once stays."""
        if self._is_settled:
            return
        self._is_settled = True
        links = self._context.links
        links.queue = [*(url for url in self._wanted if url not in self._reads), *links.queue]
        for page in self.pages:
            if page.content is None:
                links.dead[page.asked] = page.error or "it could not be read"
            else:
                links.read.update((page.asked, page.content.url))
                links.dead.pop(page.asked, None)
        if not (self._reads or links.unwritten):
            return
        kept = (*links.unwritten, *self.pages)
        try:
            write_pages(self._context.scratchpad, kept)
        except ActionFailed as fault:
            links.unwritten, self.unwritten = kept, fault.message
        else:
            links.unwritten = ()

    def _wish(self, url: str) -> Wish:
        return Wish(url, self._panel, self._wants_linked)

    def _wants_linked(self) -> bool:
        return self._vain < VAIN_WAITS and any(_has_linked(read) for read in self._reads.values())

    async def _take(self, read: Read) -> None:
        """Take one page in as soon as it is read, so that it is not lost whatever befalls the rest."""
        url = read.wish.url
        self._reads[url] = read
        if read.rendered is None:
            return
        self._vain += read.rendered.has_waited and not read.rendered.content.linked_data
        if read.picture is not None:
            self._pictures[url] = await self._context.keep_picture(read.picture) or self._pictures.get(url)
        self._see(self._page(read))

    async def _take_better(self, read: Read) -> None:
        """Take a second reading in where it has more than the first."""
        known = self._reads[read.wish.url]
        if known.rendered is None or (read.rendered is not None and read.rendered.text):
            await self._take(replace(read, is_transient=False))

    def _see(self, page: PageRead) -> None:
        assert page.content is not None
        context = self._context
        stated = "\n".join(f"{name}: {value}" for name, value in _stated(list(page.content.linked_data)))
        text = "\n".join(part for part in (page.content.title, page.text, stated) if part)
        links = addresses_of(page.content).union((page.asked, page.content.url), (link.url for link in page.links))
        for url in dict.fromkeys((page.asked, page.content.url)):
            context.evidence.see(Sighting(url, text, datetime.now(UTC), links, context.step, page.screenshot))

    def _page(self, read: Read) -> PageRead:
        url, rendered = read.wish.url, read.rendered
        if rendered is None:
            return PageRead(url, error=self._context.sensitive.redact(read.error))
        page = PageRead(url, rendered.content, rendered.text, rendered.links, self._pictures.get(url))
        return self._context.sensitive.redact_all(page)

    def _shells(self) -> list[Wish]:
        """Return the pages that show the same around a panel of another site, to be read inside of it."""
        groups: defaultdict[tuple[str, str], list[Read]] = defaultdict(list)
        for read in self._reads.values():
            if read.rendered is not None and not read.wish.panel and (host := _panel_host(read.rendered)):
                text = "".join(sign for sign in read.rendered.own[:SHELL_TEXT] if not sign.isdigit())
                groups[text, host].append(read)
        return [
            replace(read.wish, panel=host)
            for (_, host), reads in groups.items()
            if len(reads) >= SHELLS
            for read in reads
        ]

    def _unlinked(self) -> list[str]:
        """Return the pages without JSON-LD that may have it after all, as most of the others have."""
        good = [read for read in self._reads.values() if read.rendered is not None]
        if not self._wants_linked() or 2 * sum(map(_has_linked, good)) < len(good):
            return []
        return [
            read.wish.url
            for read in good
            if not _has_linked(read) and read.rendered and read.rendered.is_alive and not read.rendered.has_waited
        ]


def _has_linked(read: Read) -> bool:
    return read.rendered is not None and bool(read.rendered.content.linked_data)


def _panel_host(rendered: Rendered) -> str:
    """Return the host of the only other site that a page has panels of, "" for none or several."""
    own = urlsplit(rendered.content.url).netloc
    hosts = {urlsplit(panel).netloc for panel in rendered.panels} - {own, ""}
    return hosts.pop() if len(hosts) == 1 else ""


def _stated(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Return every text and number of a JSON document with its name."""
    if isinstance(value, dict):
        return [pair for key, one in cast("dict[str, Any]", value).items() for pair in _stated(one, key)]
    if isinstance(value, list):
        return [pair for one in cast("list[Any]", value) for pair in _stated(one, name)]
    return [] if value is None or name.startswith("@") else [(name, str(value))]


async def _tell_pressure(context: ActionContext, count: int) -> None:
    gap = context.pressure.gap(min(MOST_TABS, count))
    if gap:
        sessions, stall = context.pressure.sessions(), context.pressure.stall()
        text = f"{sessions} sessions are at work and the processor stalls {stall:.0%} of the time"
        await context.tell("pressure", f"{text}: pages are opened {gap:.1f} s apart.")


async def _hand_over(context: ActionContext, reading: _Reading) -> Receipt:
    pages = reading.pages
    good = [page for page in pages if page.content is not None]
    dead = {page.asked: page.error for page in pages if page.content is None}
    rows: list[dict[str, Any]] = []
    remaining = len(context.links.queue)
    text = f"Read {len(good)} of {len(pages)} page(s), kept in {PAGES_FILE}."
    if not pages:
        text = f"What was read before is in {PAGES_FILE} now."
    if reading.unwritten:
        text = (
            f"Read {len(good)} of {len(pages)} page(s), but {PAGES_FILE} could not be written: {reading.unwritten} "
            "They are kept, and what they begin with is below: make room, then read_pages without urls writes them."
        )
    lost_rows = ""
    if context.store is not None and pages:
        rows = await asyncio.to_thread(draft_rows, context.store.schema, pages, context.links)
        lost_rows = _write_rows(context, rows)
        text += f" Drafted {len(rows)} row(s) in {DRAFT_FILE}" + (f": {coverage_of(rows)}." if rows else ".")
        text += f" But that could not be written: {lost_rows} The rows are below." if lost_rows else ""
    if dead:
        named = "; ".join(f"{url} ({reason})" for url, reason in list(dead.items())[:NAMED_DEAD])
        text += f" Could not be read: {named}" + ("; …." if len(dead) > NAMED_DEAD else ".")
    if remaining:
        text += f" {remaining} more wait: read_pages without urls goes on with them."
    await context.tell("read_pages", text)
    data = {
        "read": [_summary(page) for page in good],
        "dead": dead,
        "remaining": remaining,
        "drafted_rows": len(rows),
    }
    if reading.unwritten:
        room = SHOWN_UNWRITTEN // max(1, len(good))
        data["pages"] = [{"url": page.asked, "text": page.text[:room]} for page in good]
    if lost_rows:
        data["rows"] = rows
    status = ReceiptStatus.OK if good or not pages else ReceiptStatus.FAILED
    if reading.unwritten or lost_rows:
        return Receipt(status, text, carried=json.dumps({"note": text, **data}, ensure_ascii=False))
    return Receipt(status, text, carried=envelope(text, PAGES_FILE, data))


def _write_rows(context: ActionContext, rows: list[dict[str, Any]]) -> str:
    """Write the drafted rows to their file; returns why they could not be, "" when they are written."""
    try:
        write_rows(context.scratchpad, rows)
    except ActionFailed as fault:
        return fault.message
    return ""


def _summary(page: PageRead) -> dict[str, Any]:
    assert page.content is not None
    return {
        "url": page.asked,
        "title": page.content.title[:80],
        "characters": len(page.text),
        "jsonld": len(page.content.linked_data),
    }


READ_PAGES = Action(
    "read_pages",
    f"Read the links that find_links found, or the pages at urls, {PAGES_PER_CALL} at once, in tabs of their own; "
    "without urls it goes on with those that wait. frame_url_contains reads the panel with that address inside each.",
    ReadPages,
    _read_pages,
    deadline=TOTAL_SECONDS + RESERVE_SECONDS,
    touches_page=False,
    is_desk_work=True,
)
