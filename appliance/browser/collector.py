"""Reads a tab into numbered lines: one walk per document, inside the page, frames at once, each with a deadline."""

import asyncio
import re
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from appliance.browser.cdp import CdpError
from appliance.browser.disclosure import Disclosure
from appliance.browser.documents import frame_id_of
from appliance.browser.element import Element, FrameLink
from appliance.browser.frames import World
from appliance.browser.layout import ANYWHERE, Part, Start, Walk, gap
from appliance.browser.observation import ElementView, Scroll
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

TEXT_BUDGET = 5_500
"""Characters of lines in one observation, as far as what is in view leaves room for more."""
VIEW_BUDGET = 6_800
"""Characters that the lines in view may take: they are what a person would see, so they come first.

With a heading and some lines about what is left out, a page is to fit whole into what a prompt has room for.
"""
LEAST_FRAME_BUDGET = 600
"""Characters that a frame of another site may take, however many there are."""
FRAME_SECONDS = 2.0
"""How long the document of a frame may take to be read."""
PAGE_SECONDS = 5.0
"""How long the page's own document may take: without it there is nothing to see."""
LARGE_PAGE_SECONDS = 30.0
"""How long it may take when it did not answer in time before, but reacts: it is large, or the machine busy."""
SLOW_FRAME_SECONDS = 0.5
"""How long a frame may take that did not answer the last time."""
MAX_FRAME_DEPTH = 5
MAX_FRAMES = 60
MAX_DISCLOSURES = 4
"""How many closed shadow roots one inside the other are opened in one reading."""
_OURS = re.compile(
    r"\s*(?:\*?\[\d+\]|(?:URL|Title|Note|Tabs):|… \d+ more lines|Lines \d+-\d+ of"
    r"|\((?:\d+ px |top of the page|end of the page|this frame is not read))"
)
"""How lines begin that are no text of the page."""
COLLECT = "(budget, viewBudget, from, again) => eyes.collect(budget, viewBudget, from, again)"


@dataclass
class Reading:
    """What one observation found; `elements` are those of it and of earlier ones of the same document."""

    lines: list[str] = field(default_factory=list[str])
    views: dict[int, ElementView] = field(default_factory=dict[int, ElementView])
    elements: dict[int, Element] = field(default_factory=dict[int, Element])
    notes: list[str] = field(default_factory=list[str])
    url: str = ""
    title: str = ""
    scroll: Scroll = field(default_factory=lambda: Scroll(0, 0))
    fingerprint: str = ""
    mutations: int = 0
    first_line: int = 1
    last_line: int = 0
    total_lines: int = 0


class Collector:
    """Reads one tab, and keeps the numbers of elements stable while their documents live.

    `elements` are those of the present document that were shown at any time, by number.
    """

    def __init__(self, tab: Tab) -> None:
        """Begin with nothing known of the tab."""
        self._tab = tab
        self._document = ""
        self._numbers: dict[tuple[World, int], int] = {}
        self.elements: dict[int, Element] = {}
        self._slow: set[tuple[World, int]] = set()
        self._shown: Part | None = None
        self._disclosure = Disclosure(tab)
        self._is_late = False
        self._room = VIEW_BUDGET
        self._hash = blake2b(digest_size=12)

    async def read(self, from_line: int = 0, room: int = VIEW_BUDGET) -> Reading:
        """Read the tab's documents into lines, from a line of the last reading on where one is given.

        The lines shown of a long page take about 5,500 characters, what is in view up to 6,800, and less where there
        is less `room`. Raises ActionFailed when even the main document cannot be read.
        """
        self._room = room
        start = self._shown.find(from_line - 1) if from_line > 0 and self._shown else ANYWHERE
        walk, world = await self._walk_main(start, again=False)
        if self._tab.activity.document != self._document:
            self._document = self._tab.activity.document
            self._numbers.clear()
            self.elements.clear()
            self._slow.clear()
            self._disclosure.forget()
        for _ in range(MAX_DISCLOSURES):
            if not await self._disclosure.disclose(world, walk):
                break
            walk, world = await self._walk_main(start, again=True)
        self._hash = blake2b(digest_size=12)
        if walk.url.startswith("chrome-error:"):
            # The browser's own error page stands in for the address that was asked for.
            walk.url = self._tab.url
        self._shown = part = Part(walk, world)
        part.frames = await self._read_frames(part, (), start)
        reading = Reading(url=walk.url, title=walk.title, mutations=walk.mutations, elements=self.elements)
        reading.scroll = Scroll(walk.above, walk.below)
        reading.total_lines = part.size
        if walk.modal:
            reading.notes.append("A modal dialog of the page is open; nothing outside it can be used.")
        if walk.loading:
            reading.notes.append("The page is still loading.")
        self._write(reading, part, "", (), 0)
        if start.inside is not None:
            # The line of the frame around is shown too, but what was asked for begins inside.
            reading.first_line = min(from_line, part.size)
        self._hash.update(f"{walk.url} {walk.above} {walk.total}".encode())
        reading.fingerprint = self._hash.hexdigest()
        return reading

    def number(self, element: Element) -> int:
        """Return the number of an element, which it keeps as long as the tab's document lives."""
        return self._number(*element.key)

    def line_number(self, world: World, place: int) -> int | None:
        """Return the number that a place of a document has among all lines of the last reading, if it was in it."""
        return self._shown.number_in(world, place) if self._shown is not None else None

    @property
    def _text_budget(self) -> int:
        return min(TEXT_BUDGET, self._room)

    async def _walk_main(self, start: Start, *, again: bool) -> tuple[Walk, World]:
        budget = self._text_budget if start.inside is None else 1
        seconds = PAGE_SECONDS
        if self._is_late:
            await self._tab.run("() => true", timeout=FRAME_SECONDS)
            seconds = LARGE_PAGE_SECONDS
        self._is_late = True
        text = await self._tab.run(COLLECT, budget, min(VIEW_BUDGET, self._room), start.place, again, timeout=seconds)
        self._is_late = False
        return msgspec.json.decode(text, type=Walk), await self._tab.frames.world()

    # ---- writing ------------------------------------------------------------------------------------------------

    def _write(self, reading: Reading, part: Part, indent: str, chain: tuple[FrameLink, ...], base: int) -> None:
        """Add the lines of a part, which come after `base` others, with those of its frames in their places."""
        self._hash.update(b"%d" % part.walk.hash)
        next_number = base + 1
        for place, line in zip(part.walk.places, part.walk.lines, strict=True):
            number = base + part.lines_before(place) + 1
            if number > next_number:
                reading.lines.append(indent + gap(next_number, number, reading.total_lines))
            next_number = base + part.lines_before(place + 1) + 1
            if not reading.last_line:
                reading.first_line = number
            reading.last_line = number
            self._write_line(reading, part.world, line, indent, chain)
            if line[0] < 0:
                self._write_frame(reading, part, line, indent, chain, number)
        end = base + part.size + 1
        if end > next_number:
            reading.lines.append(indent + gap(next_number, end, reading.total_lines))

    def _write_line(
        self, reading: Reading, world: World, line: list[object], indent: str, chain: tuple[FrameLink, ...]
    ) -> None:
        reference, is_new, pad, text = line[:4]
        assert isinstance(reference, int)
        if reference <= 0:
            # What a page writes in the manner of our own lines is told from them by the stroke before it.
            stroke = "\\" if not reference and _OURS.match(str(text)) else ""
            reading.lines.append(f"{indent}{pad}{stroke}{text}")
            self._hash.update(str(text).encode(errors="replace"))
            return
        number = self._number(world, reference)
        reading.lines.append(f"{indent}{pad}{'*' if is_new else ''}[{number}]{text}")
        tag, role, name = map(str, line[4:])
        view = ElementView(number, tag, role, name)
        reading.views[number] = view
        self.elements[number] = Element(self._tab, view, world, reference, chain)
        self._hash.update(f"{number}{text}".encode(errors="replace"))

    def _write_frame(
        self,
        reading: Reading,
        part: Part,
        line: list[object],
        indent: str,
        chain: tuple[FrameLink, ...],
        number: int,
    ) -> None:
        reference = -int(str(line[0]))
        inner, inner_indent = part.frames[reference], f"{indent}{line[2]} "
        if isinstance(inner, str):
            reading.lines.append(f"{inner_indent}(this frame is not read: {inner})")
            reading.last_line = number + 1
            return
        self._write(reading, inner, inner_indent, (*chain, FrameLink(part.world, reference)), number)

    def _number(self, world: World, reference: int) -> int:
        key = (world, reference)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers) + 1
        return number

    # ---- frames that only their own sessions or worlds can read -------------------------------------------------

    async def _read_frames(self, part: Part, chain: tuple[FrameLink, ...], start: Start) -> "dict[int, Part | str]":
        """Read every frame of a part at once: those shown as far as there is room, the others to be counted only."""
        if not part.walk.frames:
            return {}
        shown = {-line[0] for line in part.walk.lines if line[0] < 0}
        room = self._text_budget - sum(len(line[3]) for line in part.walk.lines)
        each = max(LEAST_FRAME_BUDGET, max(room, self._text_budget // 2) // max(len(shown), 1))
        ranked = sorted((reference for reference, _ in part.walk.frames), key=lambda one: one not in shown)

        async def read(place: int, reference: int) -> "Part | str":
            if len(chain) >= MAX_FRAME_DEPTH:
                return "it is nested too deep"
            if place >= MAX_FRAMES:
                return "the page has too many frames"
            begin = start.within(reference)
            budget = each if reference in shown else 0
            if begin is not ANYWHERE:
                budget = self._text_budget if begin.inside is None else 1
            return await self._read_frame(FrameLink(part.world, reference), chain, budget, begin)

        found = await asyncio.gather(*(read(place, reference) for place, reference in enumerate(ranked)))
        return dict(zip(ranked, found, strict=True))

    async def _read_frame(
        self, link: FrameLink, chain: tuple[FrameLink, ...], budget: int, start: Start
    ) -> "Part | str":
        key = (link.world, link.reference)
        seconds = SLOW_FRAME_SECONDS if key in self._slow else FRAME_SECONDS
        try:
            async with asyncio.timeout(seconds):
                part = await self._walk_frame(link, budget, start)
        except TimeoutError:
            self._slow.add(key)
            return f"it did not answer within {seconds:g} s"
        except CdpError:
            return "it is being replaced, look again"
        except ActionFailed as error:
            return error.message
        self._slow.discard(key)
        # Frames inside have deadlines of their own: one that hangs does not take this one along.
        part.frames = await self._read_frames(part, (*chain, link), start)
        return part

    async def _walk_frame(self, link: FrameLink, budget: int, start: Start) -> Part:
        frame_id = await frame_id_of(self._tab, link)
        session_id = self._tab.frames.owner(frame_id, link.world.session_id)
        # The deadline is that of who asks: it is to end the wait, and not one of the commands' own.
        world = await self._tab.frames.world(frame_id, session_id, 2 * FRAME_SECONDS)
        place = start.place if budget else 0
        rounds = 0
        while True:
            text = await self._tab.run(
                COLLECT, budget, budget, place, rounds > 0, timeout=2 * FRAME_SECONDS, world=world
            )
            walk = msgspec.json.decode(text, type=Walk)
            rounds += 1
            if rounds > MAX_DISCLOSURES or not await self._disclosure.disclose(world, walk):
                return Part(walk, world)
