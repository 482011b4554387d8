"""How the lines of a page with its frames are counted, and what of them one reading shows."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from appliance.browser.frames import World


class Walk(msgspec.Struct):
    """What the page's script returns; a line is [reference, is new, indent, text, tag, role, name] or shorter.

    Of the `total` lines of the document those at `places` are in `lines`; `frames` are pairs of reference and place
    of the frames that the script could not enter. The lines of a frame come after the line that names it.
    `suspects` are elements that may have a closed shadow root, `roots` the document and the shadow roots read.
    """

    lines: list[list[Any]]
    places: list[int]
    frames: list[tuple[int, int]] = []
    total: int = 0
    url: str = ""
    title: str = ""
    above: int = 0
    below: int = 0
    hash: int = 0
    mutations: int = 0
    loading: bool = False
    modal: bool = False
    suspects: int = 0
    roots: int = 1


@dataclass(frozen=True)
class Start:
    """Where a reading begins: at a place of a document (-1: what is in view), or inside the frame that stands there."""

    place: int = -1
    frame: int = 0
    inside: "Start | None" = None

    def within(self, reference: int) -> "Start":
        """Return where to begin in a frame."""
        return self.inside if self.inside is not None and reference == self.frame else ANYWHERE


ANYWHERE = Start()


@dataclass
class Part:
    """One document of a reading: its walk, its world, and by reference its frames: each a part, or why it is none."""

    walk: Walk
    world: World
    frames: "dict[int, Part | str]" = field(default_factory=dict[int, "Part | str"])

    @property
    def size(self) -> int:
        """How many lines the document has, with those of its frames."""
        return self.walk.total + sum(map(_size, self.frames.values()))

    def lines_before(self, place: int) -> int:
        """Return how many lines stand before this place, those of frames included."""
        if not self.walk.frames:
            return place
        return place + sum(_size(self.frames[reference]) for reference, at in self.walk.frames if at < place)

    def number_in(self, world: World, place: int) -> int | None:
        """Return the number, counted from 1, of a place in the document of a world; None when that is no part of it."""
        if self.world == world:
            return self.lines_before(place) + 1
        for reference, at in self.walk.frames:
            inner = self.frames[reference]
            number = None if isinstance(inner, str) else inner.number_in(world, place)
            if number is not None:
                return self.lines_before(at) + 1 + number
        return None

    def find(self, line: int) -> Start:
        """Return the start for a line of the part, counted from 0; the last one when there are not so many."""
        inner_lines = 0
        for reference, place in self.walk.frames:
            inner = self.frames[reference]
            begin = place + 1 + inner_lines
            if line < begin:
                break
            if line < begin + _size(inner):
                return Start(place, reference, None if isinstance(inner, str) else inner.find(line - begin))
            inner_lines += _size(inner)
        return Start(min(max(line - inner_lines, 0), max(self.walk.total - 1, 0)))


def _size(part: "Part | str") -> int:
    return 1 if isinstance(part, str) else part.size


def gap(first: int, after: int, total: int) -> str:
    """Return the line that stands for lines left out: those with numbers from `first` to before `after`."""
    count = after - first
    where = "above" if first == 1 else "below" if after > total else "in between"
    return f"… {count} more lines {where} ({first}-{after - 1})"
