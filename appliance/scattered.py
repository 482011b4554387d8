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

_AROUND = re.compile(
    r"\*?\[\d+\]<[^>\n]{0,2000}>"  # an element of an observation
    r"|^(?:\([^)\n]{0,200}\) )?<[a-z][^>\n]{0,2000}>(?P<said>[^<>\n]{0,300}?) in [^<\n]{0,600}$",  # one that was found
    re.MULTILINE,
)
_VALUE = re.compile(r"""\bvalue=("[^"\n]*"|[^\s>]*)""")
_OTHER = re.compile(r"[\W_]+")


def mask_scattered(text: str, owners: Iterable[tuple[str, str]]) -> str:
    """Return the text with the signs of each value hidden, the first by the marker; `owners` are markers and values.

    A value of digits or of letters alone is only meant where every sign stands apart from the next.
    """
    wanted = [(marker, bare) for marker, value in owners if len(bare := _bare(value)) >= FEWEST]
    if not wanted:
        return text
    whole = _bare("".join(text[start:end] for start, end in _counting(text)))
    for marker, bare in wanted:
        if bare in whole:
            text = _mask(text, bare, marker)
    return text


def _bare(text: str) -> str:
    return _OTHER.sub("", text).lower()


def _mask(text: str, bare: str, marker: str) -> str:
    places = [place for start, end in _counting(text) for place in range(start, end) if text[place].isalnum()]
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


def _counting(text: str) -> Iterator[tuple[int, int]]:
    """Yield the pieces of the text that count, as their bounds: what pages say, the values of fields among it."""
    end = 0
    for around in _AROUND.finditer(text):
        yield end, around.start()
        if value := _VALUE.search(around[0]):
            yield around.start() + value.start(1), around.start() + value.end(1)
        if around["said"] is not None:
            yield around.span("said")
        end = around.end()
    yield end, len(text)


def _is_meant(bare: str, places: list[int]) -> bool:
    is_unmistakable = len(bare) >= UNMISTAKABLE or not (bare.isdigit() or bare.isalpha())
    return is_unmistakable or all(after - before > 1 for before, after in pairwise(places))
