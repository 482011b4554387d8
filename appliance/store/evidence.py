"""Everything that was read in a run, so that each value of an answer can be traced to the place it was read at."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from appliance.store.spoken import addresses_in, spoken_forms, words_pattern
from appliance.store.texts import SearchText, is_same_page

MAX_CHARACTERS = 2_000_000
"""Characters of page text that are kept; beyond it the oldest are let go."""
MAX_QUOTE = 240
MAX_CACHED = 5_000


@dataclass(frozen=True)
class Sighting:
    """What was read at one time at one address: its text, and the links it showed, to the byte.

    `screenshot` names a picture of it among the session's.
    """

    url: str
    text: str
    at: datetime
    links: frozenset[str] = frozenset()
    step: int = 0
    screenshot: str | None = None


@dataclass(frozen=True)
class Provenance:
    """Where a value was read: the address, the words around it, when, and the name of a picture of it, if any."""

    url: str
    quote: str
    at: datetime
    step: int = 0
    screenshot: str | None = None


@dataclass(frozen=True)
class _Seen:
    """One sighting with its text in a form that can be searched."""

    sighting: Sighting
    text: SearchText


class Evidence:
    """What a run has read so far.

    `looks` counts the times that something was looked at.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[int, _Seen] = OrderedDict()
        self._numbers: dict[tuple[str, str], int] = {}
        self._links: dict[str, int] = {}
        self._visited: set[str] = set()
        self._size = 0
        self._next = 1
        self._said = SearchText("")
        self._said_links: frozenset[str] = frozenset()
        self._known_words: dict[str, bool] = {}
        self._words_of = 0
        self._looked_at: set[str] = set()
        self.looks = 0
        self.before_forgetting: list[Callable[[], None]] = []

    def see(self, sighting: Sighting) -> None:
        """Keep what was read; what is read again unchanged counts as read now and is kept once."""
        key = (sighting.url, sighting.text)
        before = self._numbers.pop(key, None)
        if before is not None:
            old = self._seen.pop(before)
            self._size -= len(sighting.text)
            text, links = old.text, old.sighting.links | sighting.links
        else:
            text, links = SearchText(sighting.text), sighting.links
            self.looks += 1
        number = self._next
        self._next += 1
        self._numbers[key] = number
        self._seen[number] = _Seen(_with_links(sighting, links), text)
        self._size += len(sighting.text)
        if sighting.url.startswith(("http:", "https:", "file:")):
            self._visited.add(sighting.url)
        for link in (*sighting.links, *(() if before is not None else addresses_in(sighting.text))):
            self._links[link] = number
        self._forget()

    def add_links(self, url: str, links: frozenset[str]) -> None:
        """Keep links of a page that was seen before they were asked for."""
        newest = next((number for number, seen in reversed(self._seen.items()) if seen.sighting.url == url), 0)
        if newest:
            seen = self._seen[newest]
            self._seen[newest] = _Seen(_with_links(seen.sighting, seen.sighting.links | links), seen.text)
        self._links |= dict.fromkeys(links, newest)

    def hear(self, task: str) -> None:
        """Take the words and addresses of the task itself for known."""
        self._said = SearchText(task)
        self._said_links = frozenset(addresses_in(task))

    def look(self, url: str | None = None) -> None:
        """Count that a page, the current one when none is named, was looked at, whether it said anything new or not."""
        self.looks += 1
        if page := url or self.current:
            self._looked_at.add(page)

    def was_looked_at(self, url: str) -> bool:
        """Whether `look` was told of this page."""
        return url in self._looked_at

    def _forget(self) -> None:
        if self._size <= MAX_CHARACTERS or len(self._seen) < 2:
            return
        for tell in self.before_forgetting:
            tell()
        while self._size > MAX_CHARACTERS and len(self._seen) > 1:
            _, seen = self._seen.popitem(last=False)
            self._size -= len(seen.sighting.text)
            del self._numbers[(seen.sighting.url, seen.sighting.text)]

    @property
    def sightings(self) -> list[Sighting]:
        """What is kept, oldest first."""
        return [seen.sighting for seen in self._seen.values()]

    @property
    def mark(self) -> int:
        """The number of the newest sighting: what was read until now, for `find`."""
        return self._next - 1

    @property
    def visited(self) -> frozenset[str]:
        """The addresses of pages that were read."""
        return frozenset(self._visited)

    def has_visited(self, url: str) -> bool:
        """Whether the page of this address was read, its fragment and last slash aside."""
        return url in self._visited or any(is_same_page(url, seen) for seen in self._visited)

    @property
    def current(self) -> str | None:
        """The address that was read last, None when nothing was."""
        return next(reversed(self._seen.values())).sighting.url if self._seen else None

    @property
    def is_empty(self) -> bool:
        """Whether no page has said anything yet."""
        return not any(not seen.text.is_empty for seen in self._seen.values())

    def page(self, url: str | None, until: int | None = None) -> Provenance | None:
        """Return that a page was read, without any words of it; None when it was not."""
        found = next((seen for seen in self._order(url, until) if url and is_same_page(seen.sighting.url, url)), None)
        return None if found is None else _provenance(found.sighting, "")

    def find(
        self, value: Any, near: str | None = None, until: int | None = None, about: tuple[str, ...] = ()
    ) -> Provenance | None:
        """Return where a value was read: on the page `near` if it is there, else where it was read last.

        Numbers and dates are found in the forms that pages write them in. `until` leaves out what was read after that
        mark. Of several places on a page the one beside one of the words of `about` counts. None when no page says it.
        """
        forms = spoken_forms(value)
        if not forms:
            return None
        order = self._order(near, until)
        if isinstance(value, str) and value in self._links:
            for seen in order:
                if value in seen.sighting.links or value == seen.sighting.url:
                    return _provenance(seen.sighting, value)
        for seen in order:
            place = seen.text.find(forms, about)
            if place is not None:
                return _provenance(seen.sighting, seen.text.quote(place, MAX_QUOTE))
        return None

    def _order(self, near: str | None, until: int | None) -> list[_Seen]:
        newest = [seen for number, seen in reversed(self._seen.items()) if until is None or number <= until]
        if near is None:
            return newest
        return sorted(newest, key=lambda seen: not is_same_page(seen.sighting.url, near))

    def has_text(self, text: str) -> bool:
        """Whether a page, or the task, says these words: whole words, however they are joined and capitalised."""
        if self._words_of != self._next:
            self._known_words = {words: True for words, is_there in self._known_words.items() if is_there}
            self._words_of = self._next
        if text not in self._known_words:
            self._known_words[text] = self._says(words_pattern(text))
        return self._known_words[text]

    def _says(self, pattern: re.Pattern[str] | None) -> bool:
        if pattern is None:
            return False
        if self._said.has(pattern):
            return True
        if any(seen.text.has(pattern) for seen in reversed(self._seen.values())):
            return True
        return any(pattern.search(link.lower()) for link in self._links)

    def has_link(self, url: str) -> bool:
        """Whether a page showed this very address, byte for byte, or it was visited or named by the task."""
        return url in self._links or url in self._visited or url in self._said_links

    def nearest_link(self, url: str) -> str | None:
        """Return the known address that is most like this one, None when none is alike."""
        return nearest(url, (*self._links, *self._visited, *self._said_links))


def nearest(text: str, others: Iterable[str]) -> str | None:
    """Return the one that shares most at both ends with the text; None when that is less than half of it."""
    best, most = None, len(text) // 2
    for other in others:
        start = _shared(text, other)
        rest = min(len(text), len(other)) - start
        end = _shared(text[::-1][:rest], other[::-1][:rest])
        if start + end > most:
            best, most = other, start + end
    return best


def _shared(one: str, other: str) -> int:
    """Return with how many signs both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _with_links(sighting: Sighting, links: frozenset[str]) -> Sighting:
    return sighting if links == sighting.links else replace(sighting, links=links)


def _provenance(sighting: Sighting, quote: str) -> Provenance:
    return Provenance(sighting.url, quote, sighting.at, sighting.step, sighting.screenshot)
