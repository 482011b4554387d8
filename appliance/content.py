"""What a page says, freed from its markup: clean Markdown and the facts it states about itself."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Content:
    """The readable content of one document.

    `linked_data` are the JSON-LD objects that could be read, `meta` the meta tags by name or property,
    `labelled` pairs of a label and its text (tables with header cells, definition lists, "Label: value" lines).
    """

    url: str
    title: str
    markdown: str
    linked_data: tuple[dict[str, Any], ...] = ()
    meta: tuple[tuple[str, str], ...] = ()
    labelled: tuple[tuple[str, str], ...] = ()
