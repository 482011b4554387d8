"""Takes out of a text what stands in it sign by sign: one in each element, or parted by blanks, dashes or lines.

Letters and digits alone count. What an observation says around them, such as the number of an element, does not.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

FEWEST = 6
"""Letters and digits of a value that is looked for at all."""
UNMISTAKABLE = 10
"""From so many on, or with letters and digits among them, a value is taken out however it is grouped."""
HIDDEN = "•"

_ELEMENT = re.compile(r"\*?\[\d+\]<[^>\n]*>")
_VALUE = re.compile(r"""\bvalue=("[^"\n]*"|[^\s>]*)""")
_OTHER = re.compile(r"[\W_]+")


def mask_scattered(text: str, owners: Iterable[tuple[str, str]]) -> str:
    """Return the text with the signs of each value hidden, the first by the marker; `owners` are markers and values.

    A value of digits or of letters alone is only meant where every sign stands apart from the next.
    """
    wanted = [(marker, bare) for marker, value in owners if len(bare := _bare(value)) >= FEWEST]
    if not wanted:
        return text
    whole = _bare(_ELEMENT.sub(_said, text))
    for marker, bare in wanted:
        if bare in whole:
            text = _mask(text, bare, marker)
    return text


def _bare(text: str) -> str:
    return _OTHER.sub("", text).lower()


def _said(element: re.Match[str]) -> str:
    """Return what an element line says inside its brackets: the value of a field."""
    value = _VALUE.search(element[0])
    return value[1] if value else ""


def _mask(text: str, bare: str, marker: str) -> str:
    places = list(_places(text))
    letters = "".join(text[place].lower()[:1] for place in places)
    replaced: dict[int, str] = {}
    start = letters.find(bare)
    while start >= 0:
        taken = places[start : start + len(bare)]
        if _is_meant(bare, taken):
            replaced[taken[0]] = marker
            replaced |= dict.fromkeys(taken[1:], HIDDEN)
        start = letters.find(bare, start + len(bare))
    if not replaced:
        return text
    return "".join(replaced.get(place, sign) for place, sign in enumerate(text))


def _places(text: str) -> Iterator[int]:
    """Yield where the letters and digits stand that count."""
    end = 0
    for element in _ELEMENT.finditer(text):
        yield from _plain_places(text, end, element.start())
        value = _VALUE.search(element[0])
        if value:
            yield from _plain_places(text, element.start() + value.start(1), element.start() + value.end(1))
        end = element.end()
    yield from _plain_places(text, end, len(text))


def _plain_places(text: str, start: int, end: int) -> Iterator[int]:
    return (place for place in range(start, end) if text[place].isalnum())


def _is_meant(bare: str, places: list[int]) -> bool:
    is_unmistakable = len(bare) >= UNMISTAKABLE or not (bare.isdigit() or bare.isalpha())
    return is_unmistakable or all(after - before > 1 for before, after in pairwise(places))
