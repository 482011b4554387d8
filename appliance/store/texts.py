"""Text of pages in a form in which words, numbers and dates are found as a person would find them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_ALIKE = tuple(zip("’‘“”„–—−‑", '\'\'"""----', strict=True))
"""Signs and what stands for them; replaced one by one, which is many times faster than a table for all."""
_WORD = re.compile(r"\w")
_WORDS = re.compile(r"\d+(?:[.,']\d+)*|[^\W\d_]+")
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

    @cached_property
    def words(self) -> frozenset[str]:
        """The words and numbers it has, a number with the signs that part its digits."""
        return frozenset(_WORDS.findall(self._folded))

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
            # To look a word up is faster than to search for it, and most forms are not there.
            start = self._folded.find(form) if self.words.issuperset(words_of(form)) else -1
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


class WordIndex:
    """Which texts have a word: only those few need be searched for what has it. Texts are taken in when first asked."""

    def __init__(self) -> None:
        self._waiting: dict[int, SearchText] = {}
        self._postings: dict[str, list[int]] = {}

    def add(self, number: int, text: SearchText) -> None:
        """Take a text in under a number higher than all before."""
        self._waiting[number] = text

    def remove(self, number: int, text: SearchText) -> None:
        """Let go of all that is known of a text."""
        if self._waiting.pop(number, None) is not None:
            return
        for word in text.words:
            numbers = self._postings.get(word, [])
            if number in numbers:
                numbers.remove(number)
            if not numbers:
                self._postings.pop(word, None)

    def candidates(self, forms: Sequence[str], among: Mapping[int, object]) -> list[int]:
        """Return the numbers, of those there are, of texts that have all words of one of the forms; newest first."""
        for number, text in self._waiting.items():
            for word in text.words:
                self._postings.setdefault(word, []).append(number)
        self._waiting.clear()
        if not all(map(words_of, forms)):
            return sorted(among, reverse=True)
        found: set[int] = set()
        for form in forms:
            lists = [self._postings.get(word, []) for word in words_of(form)]
            found |= set(min(lists, key=len)).intersection(*lists) if lists else set()
        return sorted((number for number in found if number in among), reverse=True)


@lru_cache(maxsize=20_000)
def words_of(form: str) -> tuple[str, ...]:
    """Return the words that a text with this form has by themselves; none where words are not told apart by spaces."""
    return () if _UNSPACED.search(form) else tuple(_WORDS.findall(form))


def fold(text: str) -> str:
    """Return the text in lower case and with plain quotes and dashes, as long as it was, sign by sign."""
    if not text.isascii():
        for sign, plain in _ALIKE:
            text = text.replace(sign, plain)
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)


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
    plain, _, fragment = url.partition("#")
    return url if fragment.startswith(("/", "!")) else plain.rstrip("/")
