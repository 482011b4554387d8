"""What a page says, freed from its markup: clean Markdown and the facts it states about itself."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One of several things that a document lists in like form: a row of a table, a card, an entry of a list.

    `title` is its heading or what its first link says, "" for a term with its meaning; `url` the address that leads to,
    `image` that of its only picture. `labelled` are pairs of a label that a person reads (column heading, term,
    "Label: value") and its text, `named` pairs of a name that the markup alone has (a class) and the text. `texts` are
    all its texts in order.
    """

    title: str
    url: str = ""
    labelled: tuple[tuple[str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = ()
    image: str = ""


@dataclass(frozen=True)
class Content:
    """The readable content of one document.

    `linked_data` are the JSON-LD objects that could be read, `meta` the meta tags by name or property,
    `labelled` pairs of a label and its text (tables with header cells, definition lists, "Label: value" lines).
    `entries` are the groups of things it lists, in page order; a thing may belong to several.
    """

    url: str
    title: str
    markdown: str
    linked_data: tuple[dict[str, Any], ...] = ()
    meta: tuple[tuple[str, str], ...] = ()
    labelled: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[Entry, ...], ...] = ()
