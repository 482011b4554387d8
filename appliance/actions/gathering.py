"""The action that collects the links of a page, to its end and from all of its panels, for reading them in bulk."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.envelope import envelope
from appliance.actions.page_files import set_aside
from appliance.browser.growth import Gathered, gather_links
from appliance.browser.links import LinkFilter
from appliance.browser.patterns import match_all
from appliance.errors import ActionFailed
from appliance.store.evidence import Sighting
from appliance.store.links import FoundLink
from appliance.store.texts import is_same_page, page_key
from appliance.words import ReceiptStatus

FILE = "found_links.json"
SHOWN_TEXT = 150
STARVED_SECONDS = 3.0
"""How long a page that has no link at all is given to show some."""
FEW = 2
"""So many links left by a filter, of more, are taken for a filter that is wrong."""
SHOWN_KINDS = 4
FLAGGED_FROM = 3
"""With so many links, those that lead to other hosts than most are told."""


class FindLinks(Parameters):
    """Parameters of find_links."""

    href_contains: str | None = Field(None, min_length=1)
    href_regex: str | None = Field(None, min_length=1, max_length=500)
    selector: str | None = Field(None, min_length=1)
    frame_url_contains: str | None = Field(None, min_length=1)
    container_index: int | None = None


@dataclass(frozen=True)
class _Kept:
    """What a filter kept of the links of a page: one per address, those that lead to the web."""

    links: tuple[FoundLink, ...]
    hidden: int = 0


async def _find_links(context: ActionContext, parameters: FindLinks) -> Receipt:
    browser = context.browser
    wanted = LinkFilter(parameters.selector or "", parameters.frame_url_contains or "")
    within = browser.element(parameters.container_index) if parameters.container_index is not None else None
    gathered = await gather_links(browser, wanted, within)
    if not gathered.links:
        await browser.settle(STARVED_SECONDS, at_least=STARVED_SECONDS / 4)
        gathered = await gather_links(browser, wanted, within)
    gathered = context.sensitive.redact_all(gathered)
    links = _web_links(gathered.links)
    kept = _visible(_once(await _filtered(context, parameters, links)))
    aside = _set_aside(context, kept)
    _take(context, gathered, kept)
    note = _note(context, parameters, gathered, kept) + aside
    note += await _hint(context, parameters, links, kept)
    await context.tell("found_links", note)
    status = ReceiptStatus.OK if kept.links else ReceiptStatus.NO_EFFECT
    if not kept.links:
        return Receipt(status, note)
    data = [_entry(link, browser.tab.url) for link in kept.links]
    try:
        context.scratchpad.write(FILE, json.dumps(data, ensure_ascii=False, indent=1))
    except ActionFailed as fault:
        note += f" {FILE} could not be written: {fault.message}"
    return Receipt(status, note, carried=envelope(note, FILE, data))


async def _filtered(context: ActionContext, parameters: FindLinks, links: list[FoundLink]) -> list[FoundLink]:
    if parameters.href_contains:
        part = parameters.href_contains
        links = [link for link in links if part in link.url] or [
            link for link in links if part.casefold() in link.url.casefold()
        ]
    if parameters.href_regex and links:
        fits = await match_all(context.browser.tab, parameters.href_regex, [link.url for link in links])
        links = [link for link, is_fitting in zip(links, fits, strict=True) if is_fitting]
    return links


def _web_links(links: Sequence[FoundLink]) -> list[FoundLink]:
    return [link for link in links if link.url.startswith(("http://", "https://"))]


def _once(links: Sequence[FoundLink]) -> list[FoundLink]:
    """Return one link per address, with the first text that any link to it has and the longest row around one."""
    found: dict[str, FoundLink] = {}
    for link in links:
        known = found.get(link.url)
        if known is None:
            found[link.url] = link
        else:
            row = max(known.row, link.row, key=len)
            is_shown = known.is_shown or link.is_shown
            found[link.url] = replace(known, text=known.text or link.text, row=row, is_shown=is_shown)
    return list(found.values())


def _visible(links: list[FoundLink]) -> _Kept:
    """Leave out what a person does not see, unless there is nothing else."""
    shown = [link for link in links if link.is_shown]
    return _Kept(tuple(shown), len(links) - len(shown)) if shown else _Kept(tuple(links))


def _take(context: ActionContext, gathered: Gathered, kept: _Kept) -> None:
    """Keep what was found for those who read the pages next, and all of it as evidence."""
    url = context.browser.tab.url
    context.links.found = kept.links
    context.links.queue = context.links.unread(link.url for link in kept.links if not is_same_page(link.url, url))
    context.links.panel = ""
    texts = dict.fromkeys(link.row or link.text for link in gathered.links)
    sighting = Sighting(
        context.sensitive.redact(url),
        "\n".join(texts),
        datetime.now(UTC),
        frozenset(link.url for link in gathered.links),
        context.step,
        context.screenshot,
    )
    context.evidence.see(sighting)


def _set_aside(context: ActionContext, kept: _Kept) -> str:
    """Keep the links found before under another name when some of them wait still; returns a sentence about it."""
    found = {link.url for link in kept.links}
    waiting = [url for url in context.links.unread(context.links.queue) if url not in found]
    if not waiting or not found:
        return ""
    try:
        name = set_aside(context.scratchpad, FILE)
    except ActionFailed:
        name = ""
    where = f"; {name} has them" if name else ""
    return f" {len(waiting)} found before wait no longer{where}: name them as urls of read_pages if they belong."


def _read_before(context: ActionContext, kept: _Kept) -> str:
    own = context.browser.tab.url
    pages = {page_key(link.url) for link in kept.links if not is_same_page(link.url, own)}
    count = len(pages) - len(context.links.queue)
    return f" {count} of them were read before." if count else ""


def _entry(link: FoundLink, page_url: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"url": link.url, "text": link.text[:SHOWN_TEXT]}
    if link.frame:
        entry["frame"] = link.frame
    if urlsplit(link.url).netloc != urlsplit(link.frame or page_url).netloc:
        entry["off_host"] = True
    return entry


def _note(context: ActionContext, parameters: FindLinks, gathered: Gathered, kept: _Kept) -> str:
    url, waiting = context.browser.tab.url, len(context.links.queue)
    given = parameters.model_dump(exclude_none=True)
    which = f" for {', '.join(f'{name} {value!r}' for name, value in given.items())}" if given else ""
    if not kept.links:
        note = f"No link{which} on {url}."
    else:
        queued = f" and queued for read_pages.{_read_before(context, kept)}" if waiting else "; all were read before."
        note = f"Found {len(kept.links)} link(s){which} on {url}, kept in {FILE}{queued}"
    others = Counter(urlsplit(link.url).netloc for link in kept.links)
    if len(kept.links) >= FLAGGED_FROM and len(others) > 1:
        (main, _), *rest = others.most_common()
        told = ", ".join(f"{host} ({count})" for host, count in rest[:SHOWN_KINDS])
        note += f" Most lead to {main}; others to {told}."
    if kept.hidden:
        note += f" {kept.hidden} more that are not shown on the page were left out."
    if not gathered.is_complete:
        note += " The page went on growing as it was scrolled; what is here is its beginning."
    return note


async def _hint(context: ActionContext, parameters: FindLinks, links: list[FoundLink], kept: _Kept) -> str:
    """Return what there is without the filter, when it kept almost nothing; "" when it did its work."""
    if len(kept.links) > FEW or parameters.model_dump(exclude_none=True) == {}:
        return ""
    rest = links
    if len(_once(rest)) <= len(kept.links):
        rest = _web_links(await context.browser.links())
    if len(_once(rest)) <= max(len(kept.links), FEW):
        return ""
    kinds = Counter(_kind(link) for link in _once(rest))
    told = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(SHOWN_KINDS))
    return f" Without the filter there are {len(_once(rest))}, for example {told}: was it too narrow?"


def _kind(link: FoundLink) -> str:
    """Return the address up to its first folder, which alike pages share."""
    parts = urlsplit(link.url)
    folders = [one for one in parts.path.split("/") if one]
    path = f"/{folders[0]}/…" if len(folders) > 1 else parts.path
    return f"{parts.netloc}{path}{'?…' if parts.query else ''}"


FIND_LINKS = Action(
    "find_links",
    "Scroll the page and its panels to the end and collect all links, or those that fit; they are queued for "
    "read_pages.",
    FindLinks,
    _find_links,
    deadline=90.0,
)
