"""The links of a tab in page order, with those of frames of all kinds in their places."""

import asyncio
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.browser.cdp import CdpError
from appliance.browser.documents import frame_id_of
from appliance.browser.effects import method, page_function
from appliance.browser.element import Element, FrameLink
from appliance.browser.frames import World
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed, ActionInvalid
from appliance.store.links import FoundLink

FRAME_SECONDS = 2.0
"""How long the document of a frame may take to tell its links; one that takes longer is left out."""
PAGE_SECONDS = 10.0
MAX_FRAMES = 60
MAX_DEPTH = 5


@dataclass(frozen=True)
class LinkFilter:
    """Which links are wanted: those that a CSS selector fits, or that stand in what it fits; those of a frame.

    `frame` is a part of the frame's address; frames inside such a frame belong to it.
    """

    selector: str = ""
    frame: str = ""


EVERY_LINK = LinkFilter()


class _Found(msgspec.Struct):
    url: str = ""
    links: list[tuple[str, str, str, bool, str] | int] = []
    error: str | None = None


async def links_of(tab: Tab, wanted: LinkFilter = EVERY_LINK, within: Element | None = None) -> tuple[FoundLink, ...]:
    """Return the links of a tab, or of one of its elements, in page order; those that are not shown are marked so.

    Raises ActionInvalid when the selector is none; as `Tab.run` for the page itself, as `Element.call` for an element.
    A frame that does not answer within 2 s is left out.
    """
    if within is None:
        text = await tab.run(page_function("links", "find"), wanted.selector, timeout=PAGE_SECONDS)
        world = await tab.frames.world()
    else:
        text = await within.call(method("links", "find"), wanted.selector, timeout=PAGE_SECONDS)
        world = within.world
    return await _with_frames(tab, _read(text), world, wanted, 0)


async def _with_frames(tab: Tab, found: _Found, world: World, wanted: LinkFilter, depth: int) -> tuple[FoundLink, ...]:
    references = [one for one in found.links if isinstance(one, int)][:MAX_FRAMES] if depth < MAX_DEPTH else []
    inner = await asyncio.gather(*(_frame_links(tab, FrameLink(world, one), wanted, depth) for one in references))
    inside = dict(zip(references, inner, strict=True))
    own = found.url if depth else ""
    links: list[FoundLink] = []
    for entry in found.links:
        if isinstance(entry, int):
            links += inside.get(entry, ())
            continue
        address, text, row, is_shown, frame = entry
        frame = frame or own
        if not wanted.frame or wanted.frame in frame:
            links.append(FoundLink(address, text, frame, row, is_shown))
    return tuple(links)


async def _frame_links(tab: Tab, link: FrameLink, wanted: LinkFilter, depth: int) -> tuple[FoundLink, ...]:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            frame_id = await frame_id_of(tab, link)
            session_id = tab.frames.owner(frame_id, link.world.session_id)
            world = await tab.frames.world(frame_id, session_id)
            found = _read(await tab.run(page_function("links", "find"), wanted.selector, world=world))
    except (TimeoutError, CdpError, ActionFailed):
        return ()
    if wanted.frame and wanted.frame in found.url:
        wanted = LinkFilter(wanted.selector)
    return await _with_frames(tab, found, world, wanted, depth + 1)


def _read(text: Any) -> _Found:
    found = msgspec.json.decode(text, type=_Found)
    if found.error is not None:
        raise ActionInvalid(f"The selector cannot be read: {found.error}")
    return found
