"""Reads a document's HTML into clean Markdown and the facts it states about itself."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any
from urllib.parse import urljoin

from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

from appliance.content import Content
from appliance.surrogates import make_whole

NOISE = (
    "script, style, noscript, template, svg, iframe, object, embed, canvas, link, meta, nav, footer, dialog,"
    " [role=navigation], [role=contentinfo], [role=search], [hidden], [aria-hidden=true],"
    " [style*='display:none'], [style*='display: none']"
)
MAIN = "main, [role=main], article"
MAIN_SHARE = 0.4
"""A main element counts as the content when it holds at least this part of the page's text."""
MAX_LABELLED = 400
MAX_VALUE = 500
LABEL_LINE = re.compile(r"([^\W\d_][^:\n]{0,59}):\s+(\S[^\n]*)")
LINE_BLOCKS = "p, li, div, span, td, h1, h2, h3, h4, h5, h6"

OPTION = re.compile(r"<option\b[^>]*>[^<]*(?:</option>)?", re.IGNORECASE)
MAX_OPTIONS = 2_000
OPTIONS = ConversionOptions(
    extract_metadata=False,
    compact_tables=True,
    escape_underscores=False,
    preprocessing=PreprocessingOptions(enabled=False),
)


def read_html(html: str, url: str) -> Content:
    """Return what a document says; links in the Markdown are absolute. Never raises for malformed HTML."""
    tree = LexborHTMLParser(_with_fewer_options(html))
    linked_data = tuple(_linked_data(tree))
    meta = tuple(_meta(tree))
    title = _text(tree.css_first("title"))
    base = tree.css_first("base[href]")
    base_url = urljoin(url, base.attributes.get("href") or "") if base is not None else url
    for node in tree.css(NOISE):
        node.decompose()
    labelled = tuple(_labelled(tree))
    for node in tree.css("a[href], img[src]"):
        name = "href" if node.tag == "a" else "src"
        node.attrs[name] = _absolute(base_url, node.attributes.get(name) or "")
    body = tree.body
    content = _main(body) if body is not None else None
    return Content(url, title, _markdown(content), linked_data, meta, labelled)


def _with_fewer_options(html: str) -> str:
    """Leave out the choices after the first thousands: the parser's time grows with the square of their number."""
    number = count(1)
    return OPTION.sub(lambda match: match[0] if next(number) <= MAX_OPTIONS else "", html)


def _absolute(base_url: str, link: str) -> str:
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", link):
        # Complete already: it stays as the page wrote it, to the byte.
        return link
    try:
        return urljoin(base_url, link)
    except ValueError:
        return link


def _markdown(node: LexborNode | None) -> str:
    if node is None:
        return ""
    try:
        result = convert(node.html or "", OPTIONS)
    except ConversionError:
        return _text(node)
    return re.sub(r"\n{3,}", "\n\n", result.content or "").strip()


def _main(body: LexborNode) -> LexborNode:
    """Return the element with the page's own content: its main element if that holds enough, else the body."""
    whole = len(_text(body)) or 1
    candidates = [(len(_text(node)), node) for node in body.css(MAIN)]
    size, best = max(candidates, key=lambda pair: pair[0], default=(0, body))
    return best if size >= MAIN_SHARE * whole else body


def _linked_data(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    for node in tree.css("script[type]"):
        kind = (node.attributes.get("type") or "").partition(";")[0].strip().lower()
        if kind != "application/ld+json":
            continue
        text = re.sub(r"^\s*(<!--|//<!\[CDATA\[|/\*<!\[CDATA\[\*/)|(-->|//\]\]>|/\*\]\]>\*/)\s*$", "", node.text())
        try:
            # Raw line breaks inside strings are common, and harmless.
            found = json.loads(make_whole(text), strict=False)
        except (ValueError, RecursionError):
            continue
        yield from _objects(found)


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, list):
        for item in _as_list(found):
            yield from _objects(item)
    elif isinstance(found, dict):
        thing: dict[str, Any] = dict(_as_dict(found))
        graph = thing.pop("@graph", None)
        if graph is None or set(thing) - {"@context", "@id"}:
            yield thing
        if graph is not None:
            yield from _objects(graph)


def _as_list(value: Any) -> list[Any]:
    return value


def _as_dict(value: Any) -> dict[str, Any]:
    return value


def _meta(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    for node in tree.css("meta[content]"):
        name = node.attributes.get("property") or node.attributes.get("name") or node.attributes.get("itemprop")
        content = node.attributes.get("content")
        if name and content:
            yield name, content
    canonical = tree.css_first("link[rel=canonical][href]")
    if canonical is not None:
        yield "canonical", canonical.attributes.get("href") or ""


def _labelled(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    for label, value in _pairs(tree):
        pair = (label.strip(" :\u00a0"), value.strip()[:MAX_VALUE])
        if pair[0] and pair[1] and pair not in seen:
            seen.add(pair)
            yield pair
        if len(seen) >= MAX_LABELLED:
            return


def _pairs(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    for table in tree.css("table"):
        yield from _table_pairs(table)
    for definitions in tree.css("dl"):
        yield from _definition_pairs(definitions)
    yield from _property_pairs(tree)
    for block in tree.css(LINE_BLOCKS):
        yield from _line_pairs(block)


def _table_pairs(table: LexborNode) -> Iterator[tuple[str, str]]:
    rows = [[cell for cell in _children(row) if cell.tag in ("th", "td")] for row in table.css("tr")]
    rows = [row for row in rows if row]
    if not rows:
        return
    head, *body = rows
    if len(body) == 1 and len(head) > 1 and all(cell.tag == "th" for cell in head):
        # One row under its headings says one thing per column.
        yield from zip(map(_text, head), map(_text, body[0]), strict=False)
        return
    for row in rows:
        if len(row) >= 2 and row[0].tag == "th" and all(cell.tag == "td" for cell in row[1:]):
            yield _text(row[0]), ", ".join(map(_text, row[1:]))
        elif len(row) == 2 and all(cell.tag == "td" for cell in row) and _text(row[0]).endswith(":"):
            yield _text(row[0]), _text(row[1])


def _definition_pairs(definitions: LexborNode) -> Iterator[tuple[str, str]]:
    label = ""
    for node in definitions.css("dt, dd"):
        if node.tag == "dt":
            label = _text(node)
        elif label:
            yield label, _text(node)


def _property_pairs(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    for node in tree.css("[itemprop]:not([itemscope])"):
        attributes = node.attributes
        value = attributes.get("content") or attributes.get("datetime") or attributes.get("href") or _text(node)
        yield attributes.get("itemprop") or "", value


def _line_pairs(block: LexborNode) -> Iterator[tuple[str, str]]:
    if any(child.tag in ("p", "li", "div", "ul", "ol", "table", "section", "dl") for child in _children(block)):
        return
    match = LABEL_LINE.fullmatch(_text(block))
    if match is not None:
        yield match[1], match[2]


def _children(node: LexborNode) -> Iterable[LexborNode]:
    child = node.child
    while child is not None:
        if child.tag and not child.tag.startswith("-"):
            yield child
        child = child.next


def _text(node: LexborNode | None) -> str:
    return " ".join(node.text(separator=" ").split()) if node is not None else ""
