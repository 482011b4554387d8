"""Pairs of a label and its text, wherever a document has them: tables, definition lists, lines, rows of two."""

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_LABELLED = 400
MAX_VALUE = 500
LABEL_LINE = re.compile(r"([^\W\d_][^:\n]{0,59}):\s+(\S[^\n]*)")
LINE_BLOCKS = "p, li, div, span, td, h1, h2, h3, h4, h5, h6"
TWINS = "div, li, p"
NO_LABEL = ("a", "button", "h1", "h2", "h3", "h4", "h5", "h6", "p", "time", "img")
INLINE = ("a", "b", "strong", "i", "em", "span", "small", "time", "abbr", "sup", "sub", "br")


def find_labelled(tree: LexborHTMLParser | LexborNode) -> Iterator[tuple[str, str]]:
    """Yield each pair once, both without the colon and the space around; at most 400, texts cut at 500 characters."""
    seen: set[tuple[str, str]] = set()
    for label, value in _pairs(tree):
        pair = (label.strip(" :\u00a0"), value.strip()[:MAX_VALUE])
        if pair[0] and pair[1] and pair not in seen:
            seen.add(pair)
            yield pair
        if len(seen) >= MAX_LABELLED:
            return


def _pairs(tree: LexborHTMLParser | LexborNode) -> Iterator[tuple[str, str]]:
    for table in tree.css("table"):
        yield from _table_pairs(table)
    for definitions in tree.css("dl"):
        yield from _definition_pairs(definitions)
    yield from _property_pairs(tree)
    for block in tree.css(LINE_BLOCKS):
        yield from _line_pairs(block)
    for block in tree.css(TWINS):
        yield from _twin_pairs(block)


def _table_pairs(table: LexborNode) -> Iterator[tuple[str, str]]:
    rows = [[cell for cell in children_of(row) if cell.tag in ("th", "td")] for row in table.css("tr")]
    rows = [row for row in rows if row]
    if not rows:
        return
    head, *body = rows
    if len(body) == 1 and len(head) > 1 and all(cell.tag == "th" for cell in head):
        # One row under its headings says one thing per column.
        yield from zip(map(text_of, head), map(text_of, body[0]), strict=False)
        return
    for row in rows:
        if len(row) >= 2 and row[0].tag == "th" and all(cell.tag == "td" for cell in row[1:]):
            yield text_of(row[0]), ", ".join(map(text_of, row[1:]))
        elif len(row) == 2 and all(cell.tag == "td" for cell in row) and text_of(row[0]).endswith(":"):
            yield text_of(row[0]), text_of(row[1])


def _definition_pairs(definitions: LexborNode) -> Iterator[tuple[str, str]]:
    label = ""
    for node in definitions.css("dt, dd"):
        if node.tag == "dt":
            label = text_of(node)
        elif label:
            yield label, text_of(node)


def _property_pairs(tree: LexborHTMLParser | LexborNode) -> Iterator[tuple[str, str]]:
    for node in tree.css("[itemprop]:not([itemscope])"):
        attributes = node.attributes
        value = attributes.get("content") or attributes.get("datetime") or attributes.get("href") or text_of(node)
        yield attributes.get("itemprop") or "", value


def _line_pairs(block: LexborNode) -> Iterator[tuple[str, str]]:
    if any(child.tag in ("p", "li", "div", "ul", "ol", "table", "section", "dl") for child in children_of(block)):
        return
    match = LABEL_LINE.fullmatch(text_of(block))
    if match is not None:
        yield match[1], match[2]


def _twin_pairs(block: LexborNode) -> Iterator[tuple[str, str]]:
    """Yield the pair of a row that has nothing but two texts, where a row of the same kind stands beside it."""
    twins = _twins(block)
    if twins is None:
        return
    label = text_of(twins[0])
    if not re.fullmatch(r"[^\W\d_][^\d\n]{0,39}", label) or twins[0].tag in NO_LABEL:
        return
    beside = (node for node in (_beside(block, "next"), _beside(block, "prev")) if node is not None)
    if any(node.tag == block.tag and _twins(node) is not None for node in beside):
        yield label, text_of(twins[1])


def _twins(block: LexborNode) -> tuple[LexborNode, LexborNode] | None:
    children = list(children_of(block))
    if len(children) != 2 or not all(text_of(child) for child in children) or block.text(deep=False).strip():
        return None
    if any(grandchild.tag not in INLINE for child in children for grandchild in children_of(child)):
        return None
    return children[0], children[1]


def _beside(block: LexborNode, side: str) -> LexborNode | None:
    node = getattr(block, side)
    while node is not None and node.tag.startswith("-"):
        node = getattr(node, side)
    return node


def children_of(node: LexborNode) -> Iterable[LexborNode]:
    """Yield the elements that stand in the node itself."""
    child = node.child
    while child is not None:
        if child.tag and not child.tag.startswith("-"):
            yield child
        child = child.next


def text_of(node: LexborNode | None) -> str:
    """Return the text in the node in one line, "" for None."""
    return " ".join(node.text(separator=" ").split()) if node is not None else ""
