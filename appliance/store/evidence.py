"""Everything that was read in a run, so that each value of an answer can be traced to the place it was read at."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from appliance.store.spoken import addresses_in, joinings, spoken_forms, words_pattern
from appliance.store.texts import SearchText, WordIndex, page_key

MAX_CHARACTERS = 2_000_000
"""Characters of page text that are kept; beyond it the oldest are let go."""
MAX_QUOTE = 240
NEWEST = 3
"""Texts that are searched right away: what is written down was mostly read just before."""


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


@dataclass
class _Page:
    """One text of one page: when it was seen first and last, by number, and the links it showed then."""

    text: SearchText
    first: tuple[int, Sighting]
    last: tuple[int, Sighting]
    links: frozenset[str]

    def seen_by(self, until: int | None) -> Sighting | None:
        """Return the sighting that counted at a time, None when there was none yet."""
        if until is None or self.last[0] <= until:
            return self.last[1]
        return self.first[1] if self.first[0] <= until else None


class Evidence:
    """What a run has read so far.

    `looks` counts the times that something was looked at. Those in `before_forgetting` are called before the oldest
    texts are let go.
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[int, _Page] = OrderedDict()
        self._ids: dict[tuple[str, str], int] = {}
        self._by_address: dict[str, list[int]] = {}
        self._links: dict[str, int] = {}
        self._words = WordIndex()
        self._size = 0
        self._next = 1
        self._said = SearchText("")
        self._said_links: frozenset[str] = frozenset()
        self._known_words: dict[str, bool] = {}
        self._words_of = 0
        self._visited: dict[str, str] = {}
        self._looked_at: set[str] = set()
        self.looks = 0
        self.before_forgetting: list[Callable[[], None]] = []

    def see(self, sighting: Sighting) -> None:
        """Keep what was read; what is read again unchanged counts as read now and is kept once.

        A data: address says itself what is read there, and whoever opens it may have made it up: it is left out.
        """
        if sighting.url[:5].lower() == "data:":
            return
        key, number = (sighting.url, sighting.text), self._next
        self._next += 1
        known = self._ids.get(key)
        if known is not None:
            page = self._pages[known]
            page.last, page.links = (number, sighting), page.links | sighting.links
            self._pages.move_to_end(known)
        else:
            self._keep(number, sighting)
            self.looks += 1
        for link in sighting.links:
            self._links[link] = known or number
        self._forget()

    def _keep(self, number: int, sighting: Sighting) -> None:
        text = SearchText(sighting.text)
        self._ids[(sighting.url, sighting.text)] = number
        self._pages[number] = _Page(text, (number, sighting), (number, sighting), sighting.links)
        self._by_address.setdefault(page_key(sighting.url), []).append(number)
        self._words.add(number, text)
        self._size += len(sighting.text)
        if sighting.url.startswith(("http:", "https:", "file:")):
            self._visited[page_key(sighting.url)] = sighting.url
        for address in addresses_in(sighting.text):
            self._links[address] = number

    def add_links(self, url: str, links: frozenset[str]) -> None:
        """Keep links of a page that was seen before they were asked for."""
        number = next((number for number in reversed(self._by_address.get(page_key(url), []))), 0)
        if number in self._pages:
            self._pages[number].links |= links
        self._links |= dict.fromkeys(links, number)

    def hear(self, task: str) -> None:
        """Take the words and addresses of the task itself for known."""
        self._said = SearchText(task)
        self._said_links = frozenset(addresses_in(task))

    def go_on(self) -> None:
        """Begin another run with what was read in earlier ones, whose steps are not counted any more."""
        self.before_forgetting.clear()
        for page in self._pages.values():
            page.first = (page.first[0], replace(page.first[1], step=0))
            page.last = (page.last[0], replace(page.last[1], step=0))

    def look(self, url: str | None = None) -> None:
        """Count that a page, the current one when none is named, was looked at, whether it said anything new or not."""
        self.looks += 1
        if page := url or self.current:
            self._looked_at.add(page)

    def was_looked_at(self, url: str) -> bool:
        """Whether `look` was told of this page."""
        return url in self._looked_at

    def _forget(self) -> None:
        if self._size <= MAX_CHARACTERS or len(self._pages) < 2:
            return
        for tell in self.before_forgetting:
            tell()
        while self._size > MAX_CHARACTERS and len(self._pages) > 1:
            number, page = self._pages.popitem(last=False)
            sighting = page.first[1]
            self._size -= len(sighting.text)
            self._words.remove(number, page.text)
            self._by_address[page_key(sighting.url)].remove(number)
            del self._ids[(sighting.url, sighting.text)]

    @property
    def sightings(self) -> list[Sighting]:
        """What is kept, what was read last at the end."""
        return [page.last[1] for page in self._pages.values()]

    @property
    def mark(self) -> int:
        """The number of the newest sighting: what was read until now, for `find`."""
        return self._next - 1

    @property
    def visited(self) -> frozenset[str]:
        """The addresses of pages that were read."""
        return frozenset(self._visited.values())

    def has_visited(self, url: str) -> bool:
        """Whether the page of this address was read, its fragment and last slash aside."""
        return page_key(url) in self._visited

    @property
    def current(self) -> str | None:
        """The address that was read last, None when nothing was."""
        return next(reversed(self._pages.values())).last[1].url if self._pages else None

    @property
    def is_empty(self) -> bool:
        """Whether no page has said anything yet."""
        return all(page.text.is_empty for page in self._pages.values())

    def page(self, url: str | None, until: int | None = None) -> Provenance | None:
        """Return that a page was read, without any words of it; None when it was not."""
        found = next(self._read_at(url, until), None)
        return None if found is None else _provenance(found[1], "")

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
        for page, sighting in self._read_at(near, until):
            if (found := _found(page, sighting, value, forms, about)) is not None:
                return found
        if isinstance(value, str) and value in self._links and self._links[value] in self._pages:
            page = self._pages[self._links[value]]
            if (sighting := page.seen_by(until)) is not None:
                return _provenance(sighting, value)
        for number in self._words.candidates(forms, self._pages):
            page = self._pages[number]
            sighting = page.seen_by(until)
            if sighting is not None and (found := _found(page, sighting, value, forms, about)) is not None:
                return found
        return None

    def _read_at(self, url: str | None, until: int | None) -> Iterator[tuple[_Page, Sighting]]:
        """Yield what was read at an address by then, what was read last first."""
        pages = [self._pages[number] for number in self._by_address.get(page_key(url), ())] if url else []
        for page in sorted(pages, key=lambda page: -page.last[0]):
            if (sighting := page.seen_by(until)) is not None:
                yield page, sighting

    def has_text(self, text: str) -> bool:
        """Whether a page, or the task, says these words: whole words, however they are joined and capitalised."""
        if self._words_of != self._next:
            self._known_words = {words: True for words, is_there in self._known_words.items() if is_there}
            self._words_of = self._next
        if text not in self._known_words:
            self._known_words[text] = self._says(text)
        return self._known_words[text]

    def _says(self, text: str) -> bool:
        pattern = words_pattern(text)
        if pattern is None:
            return False
        newest = islice(reversed(self._pages.values()), NEWEST)
        return (
            self._said.has(pattern)
            or any(page.text.has(pattern) for page in newest)
            or any(
                self._pages[number].text.has(pattern) for number in self._words.candidates(joinings(text), self._pages)
            )
            or any(pattern.search(link.lower()) for link in self._links)
        )

    def has_link(self, url: str) -> bool:
        """Whether a page showed this very address, byte for byte, or it was visited or named by the task."""
        return url in self._links or url in self._said_links or self._visited.get(page_key(url)) == url

    def nearest_link(self, url: str) -> str | None:
        """Return the known address that is most like this one, None when none is alike."""
        return nearest(url, (*self._links, *self._visited.values(), *self._said_links))


def _found(
    page: _Page, sighting: Sighting, value: Any, forms: tuple[str, ...], about: tuple[str, ...]
) -> Provenance | None:
    """Return where on a page a value stands: among its words or its links, or as its own address."""
    place = page.text.find(forms, about)
    if place is not None:
        return _provenance(sighting, page.text.quote(place, MAX_QUOTE))
    return _provenance(sighting, value) if value == sighting.url or value in page.links else None


def nearest(text: str, others: Iterable[str]) -> str | None:
    """Return the one that shares most at both ends with the text; None when that is less than half of it."""
    best, most = None, (len(text) // 2, 0)
    for other in others:
        start = _shared(text, other)
        rest = min(len(text), len(other)) - start
        likeness = (start + _shared(text[::-1][:rest], other[::-1][:rest]), -abs(len(text) - len(other)))
        if likeness > most:
            best, most = other, likeness
    return best


def _shared(one: str, other: str) -> int:
    """Return with how many signs both begin."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low


def _provenance(sighting: Sighting, quote: str) -> Provenance:
    return Provenance(sighting.url, quote, sighting.at, sighting.step, sighting.screenshot)
