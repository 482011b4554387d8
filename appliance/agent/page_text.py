"""The page as the prompt tells it: in full, or as what has changed since the full text was shown."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from appliance.browser.observation import Observation

MAX_URL = 400
MAX_TITLE = 120
MAX_TABS = 12
MAX_LINE = 1_000
_MAX_QUOTE = 48
_NUMBERED = re.compile(r"\s*\*?\[(\d+)\]")
_MAX_PAIRS = 100_000
"""Pairs of equal lines that are still compared one by one; it would take seconds for a page of thousands alike."""
_GAP = re.compile(r"\s*… \d+ more lines ")
_STAR = re.compile(r"^(\s*)\*(?=\[)")


@dataclass(frozen=True)
class PageText:
    """What one observation says: the facts about the page, by name and each in one text, and its lines."""

    url: str
    facts: dict[str, str]
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The page in full."""
        facts = {name: text for name, text in self.facts.items() if text}
        below = facts.pop("below")
        return "\n".join([*facts.values(), *self.lines, below])

    @property
    def size(self) -> int:
        """The characters of the page in full."""
        return sum(map(len, self.facts.values())) + sum(map(len, self.lines)) + len(self.lines)


def read_page(observation: Observation, room: int) -> PageText:
    """Return the observation as text; lines are cut and left out at the end so that they take `room` characters."""
    scroll = observation.scroll
    shown = observation.last_line - observation.first_line + 1
    part = f"Lines {observation.first_line}-{observation.last_line} of {observation.total_lines}; look shows others."
    facts = {
        "url": f"URL: {one_line(observation.url, MAX_URL)}",
        "title": f"Title: {one_line(observation.title, MAX_TITLE)}",
        "tabs": _tabs(observation),
        "notes": "\n".join(f"Note: {one_line(note, MAX_LINE)}" for note in observation.notes),
        "part": part if 0 < shown < observation.total_lines else "",
        "above": f"({scroll.above} px above)" if scroll.above else "(top of the page)",
        "below": f"({scroll.below} px below)" if scroll.below else "(end of the page)",
    }
    return PageText(observation.url, facts, _fitting(observation, room))


def changes_since(base: PageText, now: PageText, limit: int) -> str | None:
    """Return what is different from the base, "" when nothing is; None when it takes more than `limit` characters."""
    said = [now.facts[name] or _gone(name) for name, fact in base.facts.items() if now.facts[name] != fact]
    used = sum(map(len, said)) + len(said)
    for line in _hunks(base.lines, now.lines):
        said.append(line)
        used += len(line) + 1
        if used > limit:
            return None
    return "\n".join(said)


def one_line(text: str, limit: int) -> str:
    """Return the text in one line of at most `limit` characters."""
    return cut(" ".join(text.split()), limit)


def cut(text: str, limit: int) -> str:
    """Return the text, its end replaced by a dot of three where it is longer than `limit`."""
    return text if len(text) <= limit else f"{text[: max(limit - 1, 0)]}…"


def _hunks(base: tuple[str, ...], now: tuple[str, ...]) -> Iterator[str]:
    """Yield the differences: where, then lines gone (-) and new (+), or an element as it reads now (~)."""
    plain, plain_now = list(map(_plain, base)), list(map(_plain, now))
    for start, end, new_start, new_end in _differences(plain, plain_now):
        gone, new = base[start:end], now[new_start:new_end]
        if len(gone) == len(new) and all(map(_same_element, gone, new)):
            yield from (f"~{line}" for line in new)
            continue
        yield f"@ after: {cut(plain[start - 1], _MAX_QUOTE)}" if start else "@ at the top"
        yield from (f"-{cut(line, _MAX_QUOTE)}" for line in plain[start:end])
        yield from (f"+{line}" for line in new)


def _differences(base: list[str], now: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield which lines of the base became which lines, as the bounds of both."""
    first = _common(base, now)
    last = _common(base[first:][::-1], now[first:][::-1])
    old, new = base[first : len(base) - last], now[first : len(now) - last]
    counts = Counter(new)
    if sum(counts[line] for line in old) > _MAX_PAIRS:
        yield first, len(base) - last, first, len(now) - last
        return
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield first + start, first + end, first + new_start, first + new_end


def _common(one: list[str], other: list[str]) -> int:
    """Return how many lines both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _same_element(one: str, other: str) -> bool:
    first, second = _NUMBERED.match(one), _NUMBERED.match(other)
    return first is not None and second is not None and first[1] == second[1]


def _plain(line: str) -> str:
    """Return the line without the star of a new element, which it loses in the step after."""
    return _STAR.sub(r"\1", line)


def _tabs(observation: Observation) -> str:
    if len(observation.tabs) < 2:
        return ""
    lines = ["Tabs:"]
    for tab in observation.tabs[:MAX_TABS]:
        mark = " (current)" if tab.is_current else ""
        lines.append(f"{tab.tab_id}{mark} {one_line(tab.title, 60)} {one_line(tab.url, 100)}")
    if len(observation.tabs) > MAX_TABS:
        lines.append(f"and {len(observation.tabs) - MAX_TABS} more tabs")
    return "\n".join(lines)


def _gone(name: str) -> str:
    return {"tabs": "There is one tab only.", "notes": "The notes do not hold any more."}.get(name, "")


def _fitting(observation: Observation, room: int) -> tuple[str, ...]:
    """Return the lines as far as they fit, saying how many do not and how to see them."""
    fitting: list[str] = []
    number = observation.first_line
    for line in observation.lines:
        shown = cut(line, MAX_LINE)
        room -= len(shown) + 1
        if room < 0:
            left = len(observation.lines) - len(fitting)
            return (*fitting, f'… {left} more lines do not fit in here; look {{"from_line": {number}}} shows them')
        fitting.append(shown)
        number += not _GAP.match(line)
    return tuple(fitting)
