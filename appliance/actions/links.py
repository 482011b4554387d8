"""Whether the links a model gives are those of the page it read: one that differs in one sign leads elsewhere."""

import re
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urljoin

from appliance.content import Content

_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\\[\]{}]+", re.IGNORECASE)
_AFTER = ".,;:!?*_"
"""Signs that end a sentence or an emphasis and are no part of an address that stands before them."""
TAKEN_OUT = "(an address that is not on the page)"


def keep_known_links(text: str, content: Content) -> tuple[str, int]:
    """Return the text with only those addresses that the page has sign for sign, and how many others were taken out."""
    known = addresses_of(content) | {content.url}
    taken = 0

    def judge(match: re.Match[str]) -> str:
        nonlocal taken
        found, bare = match[0], _bare(match[0])
        if found in known or bare in known:
            return found
        taken += 1
        return TAKEN_OUT + found[len(bare) :]

    return _ADDRESS.sub(judge, text), taken


def addresses_of(content: Content) -> frozenset[str]:
    """Return every address that a page shows or states, to the byte, also without the signs that follow it."""
    found = frozenset(_addresses_of(content))
    return found | {_bare(address) for address in found}


def _addresses_of(content: Content) -> Iterator[str]:
    for match in _ADDRESS.finditer(content.markdown):
        yield match[0]
    stated = [*_texts(list(content.linked_data)), *(value for _, value in (*content.meta, *content.labelled))]
    for text in stated:
        yield from _ADDRESS.findall(text)
        if " " not in text.strip():
            yield joined(content.url, text.strip())


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(cast("dict[str, Any]", value).values()))
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _texts(inner)


def joined(base: str, reference: str) -> str:
    """Return the address that a reference on a page means, the reference itself where it means none."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _bare(address: str) -> str:
    """Return an address without what follows it in a sentence: a closing bracket only belongs to one that opens it."""
    bare = address.rstrip(_AFTER)
    while bare.endswith(")") and bare.count("(") < bare.count(")"):
        bare = bare[:-1].rstrip(_AFTER)
    return bare
