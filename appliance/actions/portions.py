"""Cuts long texts into portions for the model: none splits a row, each comes with what it takes to understand it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_RULE = re.compile(r"\|?[\s|:-]*-[\s|:-]*\|?")
MAX_HEADING, MAX_HEAD, MAX_PARAGRAPH = 200, 2_000, 400


@dataclass(frozen=True)
class Portion:
    """A piece of a text, from `start` to `end`; `before` is what stands above it that says what it is about."""

    start: int
    end: int
    text: str
    before: str = ""


class Portions:
    """Cuts a text into portions in order; the size may be changed in between."""

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self._position = start
        self._heading = ""
        self._head = ""
        self._before = ""

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._position >= len(self._text)

    def next(self, limit: int) -> Portion:
        """Return the next portion, of at most `limit` characters, without going on."""
        end = _border(self._text, self._position, limit)
        return Portion(self._position, end, self._text[self._position : end], self._before)

    def go_on(self, portion: Portion) -> None:
        """Let the next portion begin where this one ends."""
        self._position = portion.end
        for heading in _HEADING.finditer(portion.text):
            self._heading = heading[0][:MAX_HEADING]
        self._head = self._head_of_table(portion)
        above = self._head or _last_paragraph(portion.text)
        is_apart = self._heading and self._heading != above
        self._before = f"{self._heading}\n\n{above}" if is_apart else above

    def _head_of_table(self, portion: Portion) -> str:
        """Return the head rows of the table that goes on after the portion, "" when none does."""
        if not self._text.startswith("|", portion.end) or portion.text.rstrip("\n").rpartition("\n")[2][:1] != "|":
            return ""
        lines = portion.text.rstrip("\n").split("\n")
        first = next((at for at in range(len(lines) - 1, -1, -1) if not lines[at].startswith("|")), -1) + 1
        if first == 0 and self._head:
            return self._head
        has_rule = len(lines) > first + 1 and _RULE.fullmatch(lines[first + 1].strip()) is not None
        head = "\n".join(lines[first : first + 2] if has_rule else lines[first : first + 1])
        return head if len(head) <= MAX_HEAD else ""


def portion_end(text: str, start: int, limit: int) -> int:
    """Return where the portion from `start` ends: at the last line's end near the limit, or the limit without one."""
    end = start + limit
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", start + limit // 2, end)
    return line_end + 1 if line_end != -1 else end


def _border(text: str, start: int, limit: int) -> int:
    """Return where a portion ends: between two paragraphs near the limit, or at a line's end."""
    end = start + limit
    if end >= len(text):
        return len(text)
    gap = text.rfind("\n\n", start + limit * 3 // 4, end - 1)
    return gap + 2 if gap != -1 else portion_end(text, start, limit)


def _last_paragraph(text: str) -> str:
    paragraphs: Iterator[str] = (part.strip() for part in reversed(text[-4 * MAX_PARAGRAPH :].split("\n\n")))
    last = next((part for part in paragraphs if part), "")
    return last if len(last) <= MAX_PARAGRAPH else f"…{last[-MAX_PARAGRAPH:]}"
