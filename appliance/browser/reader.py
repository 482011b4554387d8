"""Reads a document's HTML into clean Markdown and the facts it states about itself."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import urljoin

from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

from appliance.browser.entries import find_entries
from appliance.browser.labels import find_labelled, text_of
from appliance.browser.linked_data import read_block
from appliance.content import Content

NOISE = (
    "script, style, noscript, template, svg, iframe, object, embed, canvas, link, meta, nav, footer, dialog,"
    " [role=navigation], [role=contentinfo], [role=search], [hidden], [aria-hidden=true],"
    " [style*='display:none'], [style*='display: none']"
)
MAIN = "main, [role=main], article"
MAIN_SHARE = 0.4
"""A main element counts as the content when it holds at least this part of the page's text."""

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
    title = text_of(tree.css_first("title"))
    base = tree.css_first("base[href]")
    base_url = urljoin(url, base.attributes.get("href") or "") if base is not None else url
    for node in tree.css(NOISE):
        node.decompose()
    labelled = tuple(find_labelled(tree))
    for node in tree.css("a[href], img[src]"):
        name = "href" if node.tag == "a" else "src"
        node.attrs[name] = _absolute(base_url, node.attributes.get(name) or "")
    body = tree.body
    content = _main(body) if body is not None else None
    entries = tuple(find_entries(body)) if body is not None else ()
    return Content(url, title, _markdown(content), linked_data, meta, labelled, entries)


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
        return text_of(node)
    return re.sub(r"\n{3,}", "\n\n", result.content or "").strip()


def _main(body: LexborNode) -> LexborNode:
    """Return the element with the page's own content: its main element if that holds enough, else the body."""
    whole = len(text_of(body)) or 1
    candidates = [(len(text_of(node)), node) for node in body.css(MAIN)]
    size, best = max(candidates, key=lambda pair: pair[0], default=(0, body))
    return best if size >= MAIN_SHARE * whole else body


def _linked_data(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    for node in tree.css("script[type]"):
        kind = (node.attributes.get("type") or "").partition(";")[0].strip().lower()
        if kind != "application/ld+json":
            continue
        yield from read_block(node.text())


def _meta(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    for node in tree.css("meta[content]"):
        name = node.attributes.get("property") or node.attributes.get("name") or node.attributes.get("itemprop")
        content = node.attributes.get("content")
        if name and content:
            yield name, content
    for relation in ("canonical", "next"):
        found = tree.css_first(f"link[rel~={relation}][href], a[rel~={relation}][href]")
        if found is not None:
            yield relation, found.attributes.get("href") or ""
