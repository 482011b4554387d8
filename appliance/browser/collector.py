"""Reads a tab into numbered lines: one walk per document, inside the page, frames at once, each with a deadline."""

import asyncio
from dataclasses import dataclass, field
from hashlib import blake2b
from time import monotonic
from typing import Any

import msgspec

from appliance.browser.cdp import CdpError
from appliance.browser.element import Element, FrameLink
from appliance.browser.frames import World, call_parameters, value_of
from appliance.browser.observation import ElementView, Scroll
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

TEXT_BUDGET = 5_500
"""Characters of lines in one observation, as far as what is in view leaves room for more."""
VIEW_BUDGET = 9_000
"""Characters that the lines in view may take: they are what a person would see, so they come first."""
LEAST_FRAME_BUDGET = 600
"""Characters that a frame of another site may take, however many there are."""
FRAME_SECONDS = 2.0
"""How long one document may take to be read."""
MAX_FRAME_DEPTH = 5
COLLECT = "(budget, viewBudget) => eyes.collect(budget, viewBudget)"


class _Walk(msgspec.Struct):
    """What the page's script returns; a line is [reference, is new, indent, text, tag, role, name] or shorter."""

    lines: list[list[Any]]
    total: int = 0
    url: str = ""
    title: str = ""
    above: int = 0
    below: int = 0
    height: int = 0
    hash: int = 0
    mutations: int = 0
    loading: bool = False
    modal: bool = False


@dataclass
class Reading:
    """What one observation found; `elements` are usable until the next one."""

    lines: list[str] = field(default_factory=list[str])
    views: dict[int, ElementView] = field(default_factory=dict[int, ElementView])
    elements: dict[int, Element] = field(default_factory=dict[int, Element])
    notes: list[str] = field(default_factory=list[str])
    url: str = ""
    title: str = ""
    scroll: Scroll = field(default_factory=lambda: Scroll(0, 0, 0))
    fingerprint: str = ""
    mutations: int = 0


class Collector:
    """Reads one tab, and keeps the numbers of elements stable while their documents live."""

    def __init__(self, tab: Tab) -> None:
        """Begin with nothing known of the tab."""
        self._tab = tab
        self._document = ""
        self._numbers: dict[tuple[World, int], int] = {}
        self._hash = blake2b(digest_size=12)

    async def read(self) -> Reading:
        """Read the tab's documents into lines; raises ActionFailed when even the main one cannot be read."""
        walk, world = await self._walk_main()
        if self._tab.activity.document != self._document:
            self._document = self._tab.activity.document
            self._numbers.clear()
        self._hash = blake2b(digest_size=12)
        if walk.url.startswith("chrome-error:"):
            # The browser's own error page stands in for the address that was asked for.
            walk.url = self._tab.url
        reading = Reading(url=walk.url, title=walk.title, mutations=walk.mutations)
        reading.scroll = Scroll(walk.above, walk.below, walk.height)
        if walk.modal:
            reading.notes.append("A modal dialog of the page is open; nothing outside it can be used.")
        if walk.loading:
            reading.notes.append("The page is still loading.")
        await self._write(reading, walk, world, "", ())
        self._hash.update(f"{walk.url} {walk.above} {walk.total}".encode())
        reading.fingerprint = self._hash.hexdigest()
        return reading

    async def _walk_main(self) -> tuple[_Walk, World]:
        text = await self._tab.run(COLLECT, TEXT_BUDGET, VIEW_BUDGET, timeout=FRAME_SECONDS)
        return msgspec.json.decode(text, type=_Walk), await self._tab.frames.world()

    async def _write(
        self, reading: Reading, walk: _Walk, world: World, indent: str, chain: tuple[FrameLink, ...]
    ) -> None:
        """Add the lines of a walk, with those of frames it could not enter in their places."""
        self._hash.update(b"%d" % walk.hash)
        frames = [-line[0] for line in walk.lines if line[0] < 0]
        room = TEXT_BUDGET - sum(len(line[3]) for line in walk.lines)
        inner = dict(zip(frames, await self._walk_frames(frames, world, chain, room), strict=True)) if frames else {}
        for line in walk.lines:
            reference, is_new, pad, text = line[:4]
            if reference <= 0:
                reading.lines.append(f"{indent}{pad}{text}")
                self._hash.update(text.encode(errors="replace"))
                if reference < 0:
                    link = FrameLink(world, -reference)
                    await self._write_frame(reading, inner[-reference], f"{indent}{pad} ", (*chain, link))
                continue
            number = self._number(world, reference)
            reading.lines.append(f"{indent}{pad}{'*' if is_new else ''}[{number}]{text}")
            view = ElementView(number, *line[4:])
            reading.views[number] = view
            reading.elements[number] = Element(self._tab, view, world, reference, chain)
            self._hash.update(f"{number}{text}".encode(errors="replace"))

    async def _write_frame(
        self, reading: Reading, found: "tuple[_Walk, World] | str", indent: str, chain: tuple[FrameLink, ...]
    ) -> None:
        if isinstance(found, str):
            reading.lines.append(f"{indent}(this frame is not read: {found})")
            return
        await self._write(reading, *found, indent, chain)

    def _number(self, world: World, reference: int) -> int:
        key = (world, reference)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers) + 1
        return number

    async def _walk_frames(
        self, references: list[int], world: World, chain: tuple[FrameLink, ...], room: int
    ) -> "list[tuple[_Walk, World] | str]":
        budget = max(LEAST_FRAME_BUDGET, max(room, TEXT_BUDGET // 2) // len(references))
        if len(chain) >= MAX_FRAME_DEPTH:
            return ["it is nested too deep"] * len(references)
        return await asyncio.gather(*(self._walk_frame(reference, world, budget) for reference in references))

    async def _walk_frame(self, reference: int, parent: World, budget: int) -> "tuple[_Walk, World] | str":
        deadline = monotonic() + FRAME_SECONDS
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                frame_id = await self._frame_id(reference, parent)
                session_id = self._tab.frames.owner(frame_id, parent.session_id)
                world = await self._tab.frames.world(frame_id, session_id)
                left = max(deadline - monotonic(), 0.05)
                text = await self._tab.run(COLLECT, budget, budget, timeout=left, world=world)
        except TimeoutError:
            return f"it did not answer within {FRAME_SECONDS:g} s"
        except CdpError:
            return "it is being replaced, look again"
        except ActionFailed as error:
            return error.message
        return msgspec.json.decode(text, type=_Walk), world

    async def _frame_id(self, reference: int, world: World) -> str:
        params = call_parameters(world, "(reference) => eyes.find(reference)", (reference,), by_value=False)
        answer = await self._tab.send("Runtime.callFunctionOn", params, session_id=world.session_id)
        value_of(answer)
        object_id = answer["result"].get("objectId")
        if object_id is None:
            raise ActionFailed("it has left the page")
        node = await self._tab.send("DOM.describeNode", {"objectId": object_id}, session_id=world.session_id)
        await self._tab.send("Runtime.releaseObject", {"objectId": object_id}, session_id=world.session_id)
        frame_id = node["node"].get("frameId")
        if not frame_id:
            raise ActionFailed("it has no document")
        return str(frame_id)
