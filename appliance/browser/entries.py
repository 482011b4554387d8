"""The things that a document lists in like form: rows of tables, cards, entries of lists, parts under like headings."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborNode

from appliance.browser.labels import children_of, find_labelled, text_of
from appliance.content import Entry

MAX_GROUPS = 30
MAX_ENTRIES = 1_000
"""How many entries are read in all, those of the largest groups first."""
MAX_TEXTS = 60
"""A part of the page with more texts than this is no entry of a list."""
MAX_TEXT = 1_000

_CONTAINERS = "ul, ol, div, section, main, article, form, td"
_ENTRIES = ("li", "article", "dl", "details", "figure")
_PERHAPS_ENTRIES = ("div", "section", "a")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADING_SELECTOR = ", ".join((*_HEADINGS, "[role=heading]"))
_MAY_LABEL = "dl, table, div, li li, p, [itemprop]"
_CLASS = re.compile(r"[A-Za-z][A-Za-z_-]{1,39}")

Parts = Sequence[LexborNode]
"""What an entry consists of: one element, or a heading and what follows it."""


@dataclass(frozen=True)
class _Group:
    size: int
    build: Callable[[], Iterator[Entry]]


def find_entries(body: LexborNode) -> Iterator[tuple[Entry, ...]]:
    """Yield the groups of two entries or more, large ones first; addresses in the document are absolute already."""
    groups = [*_tables(body), *_definitions(body)]
    for node in (body, *body.css(_CONTAINERS)):
        groups += _cards(node)
    room = MAX_ENTRIES
    for group in sorted(groups, key=lambda group: group.size, reverse=True)[:MAX_GROUPS]:
        entries = tuple(entry for entry in islice(group.build(), room) if len(entry.texts) > 1 or entry.url)
        room -= min(group.size, room)
        if len(entries) > 1:
            yield entries


# ---- rows of tables ---------------------------------------------------------------------------------------------


def _tables(body: LexborNode) -> Iterator[_Group]:
    for table in body.css("table"):
        rows = [row for row in table.css("tr") if row.css_first("table") is None]
        cells = [[cell for cell in children_of(row) if cell.tag in ("th", "td")] for row in rows]
        heads = [at for at, row in enumerate(cells) if len(row) > 1 and all(cell.tag == "th" for cell in row)]
        if not heads:
            continue
        labels = [text_of(cell) for cell in cells[heads[0]]]
        body_rows = [row for row in cells[heads[0] + 1 :] if len(row) == len(labels) and row[-1].tag == "td"]
        if len(body_rows) > 1:
            yield _Group(len(body_rows), lambda labels=labels, rows=body_rows: (_row(labels, row) for row in rows))


def _row(labels: list[str], cells: list[LexborNode]) -> Entry:
    texts = [text_of(cell)[:MAX_TEXT] for cell in cells]
    pairs = tuple((label, text) for label, text in zip(labels, texts, strict=True) if label and text)
    title, url = _title(cells)
    return Entry(title or texts[0], url, pairs, (), tuple(filter(None, texts)), _image(cells))


# ---- definition lists -------------------------------------------------------------------------------------------


def _definitions(body: LexborNode) -> Iterator[_Group]:
    """Yield each list as its terms with what they mean, or as records where the same terms come again and again."""
    for definitions in body.css("dl"):
        pairs: list[tuple[LexborNode, LexborNode]] = []
        term: LexborNode | None = None
        for node in definitions.css("dt, dd"):
            if node.tag == "dt":
                term = node
            elif term is not None:
                pairs.append((term, node))
        counts = Counter(text_of(term) for term, _ in pairs)
        records = max(counts.values(), default=0)
        first = text_of(pairs[0][0]) if pairs else ""
        if records > 1 and counts[first] == records:
            yield _Group(records, lambda pairs=pairs, first=first: _records(pairs, first))
        elif len(pairs) > 1 and records == 1:
            yield _Group(len(pairs), lambda pairs=pairs: (_meaning(*pair) for pair in pairs))


def _records(pairs: list[tuple[LexborNode, LexborNode]], first: str) -> Iterator[Entry]:
    starts = [at for at, (term, _) in enumerate(pairs) if text_of(term) == first]
    for start, end in zip(starts, [*starts[1:], len(pairs)], strict=True):
        stated = pairs[start:end]
        labelled = tuple((text_of(term).strip(" :"), text_of(node)[:MAX_TEXT]) for term, node in stated)
        title, url = _title([node for _, node in stated])
        yield Entry(title or labelled[0][1], url, labelled, (), tuple(text for _, text in labelled))


def _meaning(term: LexborNode, meaning: LexborNode) -> Entry:
    word, text = text_of(term), text_of(meaning)[:MAX_TEXT]
    _, url = _title([term, meaning])
    return Entry("", url, (("term", word), ("definition", text)), (), (word, text))


# ---- cards, entries of lists, parts under headings --------------------------------------------------------------


def _cards(container: LexborNode) -> Iterator[_Group]:
    kinds: dict[tuple[str, str], list[LexborNode]] = {}
    children = list(children_of(container))
    for child in children:
        if child.tag in (*_ENTRIES, *_PERHAPS_ENTRIES):
            kind = (child.attributes.get("class") or "").split()
            kinds.setdefault((child.tag, kind[0] if kind and child.tag not in _ENTRIES else ""), []).append(child)
    for (tag, kind), nodes in kinds.items():
        if len(nodes) >= (2 if tag in _ENTRIES or kind else 3):
            yield _Group(len(nodes), lambda nodes=nodes: _entries([node] for node in nodes))
    for tag in _HEADINGS:
        starts = [at for at, child in enumerate(children) if child.tag == tag]
        if len(starts) > 1:
            parts = [children[start:end] for start, end in zip(starts, [*starts[1:], len(children)], strict=True)]
            yield _Group(len(parts), lambda parts=parts: _entries(parts))


def _entries(parts_of_each: "Iterator[Parts] | Sequence[Parts]") -> Iterator[Entry]:
    for parts in parts_of_each:
        texts = _texts(parts)
        if 0 < len(texts) <= MAX_TEXTS:
            title, url = _title(parts)
            labelled = tuple(dict.fromkeys(pair for part in parts for pair in _labelled(part, texts)))
            named = tuple(dict.fromkeys(pair for part in parts for pair in _named(part)))
            yield Entry(title or texts[0], url, labelled, named, texts, _image(parts))


def _labelled(part: LexborNode, texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if part.css_first(_MAY_LABEL) is not None or any(":" in text for text in texts):
        yield from find_labelled(part)


def _texts(parts: Parts) -> tuple[str, ...]:
    texts: list[str] = []
    for part in parts:
        for node in part.traverse(include_text=True):
            if node.tag == "-text" and (text := " ".join((node.text_content or "").split())):
                texts.append(text[:MAX_TEXT])
                if len(texts) > MAX_TEXTS:
                    return tuple(texts)
    return tuple(texts)


def _title(parts: Parts) -> tuple[str, str]:
    """Return the heading, or what the first link says, and the address that this leads to; "" for what there is not."""
    links = [link for part in parts for link in part.css("a[href]")]
    addresses = [link.attributes.get("href") or "" for link in links]
    pairs = [(link, to) for link, to in zip(links, addresses, strict=True) if to.startswith(("http://", "https://"))]
    heading = next((node for part in parts for node in part.css(_HEADING_SELECTOR) if text_of(node)), None)
    told = next((link for link, _ in pairs if text_of(link)), None)
    title = text_of(heading if heading is not None else told)[:MAX_TEXT]
    distinct = list(dict.fromkeys(to for _, to in pairs))
    if len(distinct) == 1:
        return title, distinct[0]
    if heading is not None:
        in_heading = [link.attributes.get("href") or "" for link in heading.css("a[href]")]
        return title, in_heading[0] if in_heading else next((to for link, to in pairs if text_of(link) == title), "")
    return title, next((to for link, to in pairs if link is told), "")


def _image(parts: Parts) -> str:
    found = {node.attributes.get("src") or "" for part in parts for node in part.css("img[src]")}
    address = found.pop() if len(found) == 1 else ""
    return address if address.startswith(("http://", "https://")) else ""


def _named(part: LexborNode) -> Iterator[tuple[str, str]]:
    for node in part.css("[class], time[datetime]"):
        text = text_of(node)
        if 0 < len(text) <= MAX_TEXT:
            yield from ((name, text) for name in (node.attributes.get("class") or "").split() if _CLASS.fullmatch(name))
        if node.tag == "time" and (moment := node.attributes.get("datetime")):
            yield "time", moment
