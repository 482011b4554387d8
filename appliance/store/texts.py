"""Text of pages in a form in which words, numbers and dates are found as a person would find them."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import urldefrag

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ALIKE = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "−": "-", "‑": "-"})
_WORD = re.compile(r"\w")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that are written without spaces between words."""
_AROUND = 80
_BESIDE = 60
_MOST_TRIES = 200


class SearchText:
    """A text, its white space evened out, that is searched regardless of case and the shape of quotes and dashes."""

    def __init__(self, text: str) -> None:
        self._raw: str | None = text

    @cached_property
    def _plain(self) -> str:
        raw, self._raw = self._raw or "", None
        return " ".join(_UNSEEN.sub("", raw).split())

    @cached_property
    def _folded(self) -> str:
        return fold(self._plain)

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing to read."""
        return not (self._plain if self._raw is None else self._raw.strip())

    def find(self, forms: Sequence[str], about: Sequence[str] = ()) -> tuple[int, int] | None:
        """Return start and end of the first of the forms that stands there by itself, None when none does.

        Of several places the first counts that has one of the words of `about` right before it.
        """
        first: tuple[int, int] | None = None
        for place in self._places(forms):
            if not about:
                return place
            first = first or place
            before = self._folded[max(0, place[0] - _BESIDE) : place[0]]
            if any(word in before for word in about):
                return place
        return first

    def _places(self, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
        tries = 0
        for form in forms:
            start = self._folded.find(form)
            while start >= 0 and tries < _MOST_TRIES:
                tries += 1
                if stands_alone(self._folded, start, start + len(form)):
                    yield start, start + len(form)
                start = self._folded.find(form, start + 1)

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether the folded text has the pattern."""
        return pattern.search(self._folded) is not None

    def quote(self, place: tuple[int, int], limit: int) -> str:
        """Return what stands at a place with some words around it, within about `limit` characters."""
        start, end = place
        text = self._plain
        if end - start >= limit:
            return f"{text[start : start + limit - 1]}…"
        around = min(_AROUND, (limit - (end - start)) // 2)
        first, last = max(0, start - around), min(len(text), end + around)
        if first:
            first = text.find(" ", first, start) + 1 or first
        if last < len(text):
            space = text.rfind(" ", end, last)
            last = space if space >= 0 else last
        return f"{'…' if first else ''}{text[first:last].strip()}{'…' if last < len(text) else ''}"


def fold(text: str) -> str:
    """Return the text in lower case and with plain quotes and dashes, as long as it was, sign by sign."""
    lowered = text.translate(_ALIKE).lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text.translate(_ALIKE))


def tidy(text: str) -> str:
    """Return the text as it is searched for: folded, white space evened out."""
    return fold(" ".join(_UNSEEN.sub("", text).split()))


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands there is no part of a longer word or number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    first, last = text[start : start + 1], text[end - 1 : end]
    return not (_joins(before, first) or _joins(last, after)) and not (
        (first.isdigit() and _continues(text[max(0, start - 2) : start][::-1]))
        or (last.isdigit() and _continues(text[end : end + 2]))
    )


def _joins(one: str, other: str) -> bool:
    """Whether two signs beside each other belong to one word: a digit and a letter, as in 5kg, need not."""
    if not one or not other or not _WORD.match(one) or not _WORD.match(other):
        return False
    if _UNSPACED.match(one) or _UNSPACED.match(other):
        return False
    return one.isdigit() == other.isdigit()


def _continues(signs: str) -> bool:
    """Whether a number goes on there: a point, comma or apostrophe and then a digit."""
    return len(signs) == 2 and signs[0] in ".,'" and signs[1].isdigit()


def is_same_page(one: str, other: str) -> bool:
    """Whether two addresses are of one page: fragment and last slash aside."""
    return one == other or page_key(one) == page_key(other)


def page_key(url: str) -> str:
    """Return what the addresses of one page have in common; a fragment such as #/ware/1 is that of another page."""
    plain, fragment = urldefrag(url)
    return f"{plain}#{fragment}" if fragment.startswith(("/", "!")) else plain.rstrip("/")
