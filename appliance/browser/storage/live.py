"""Reads what origins keep where pages of theirs are open, in the agent's own tabs."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from appliance.browser.cdp import CdpError
from appliance.browser.storage.scripts import MOST_DATABASES, Kept, read_kept, reading_function
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

READ_SECONDS = 3.0


@dataclass(frozen=True)
class Seen:
    """What an origin keeps, as a page in a tab (the id of its session) has it."""

    session_id: str
    kept: Kept


async def read_live(tabs: Iterable[Tab]) -> dict[str, list[Seen]]:
    """Return what is seen in the tabs by origin; one that does not answer is as if it were not there."""
    found: dict[str, list[Seen]] = {}
    for seen in await asyncio.gather(*(_read_tab(tab) for tab in tabs)):
        for one in seen:
            found.setdefault(one.kept.origin, []).append(one)
    return found


async def _read_tab(tab: Tab) -> list[Seen]:
    if tab.closed or tab.crashed or tab.is_blocked:
        return []
    try:
        answer = await tab.send("Page.getFrameTree", timeout=READ_SECONDS)
    except (CdpError, ActionFailed):
        return []
    # Only frames of the tab's own site are in this session; what others keep inside it is apart from their own.
    frames: dict[str, str] = {}
    trees = [answer["frameTree"]]
    while trees:
        tree = trees.pop(0)
        frames.setdefault(str(tree["frame"].get("securityOrigin", "")).rstrip("/"), tree["frame"]["id"])
        trees += tree.get("childFrames", ())
    wanted = [(origin, frame) for origin, frame in frames.items() if origin.startswith(("http://", "https://"))]
    found = await asyncio.gather(*(_read_frame(tab, origin, frame) for origin, frame in wanted))
    return [Seen(tab.session_id, kept) for kept in found if kept is not None]


async def _read_frame(tab: Tab, origin: str, frame_id: str) -> Kept | None:
    try:
        world = await tab.frames.world(frame_id)
        answer: Any = await tab.run(reading_function(), MOST_DATABASES, timeout=READ_SECONDS, world=world)
        kept = read_kept(answer)
    except (CdpError, ActionFailed, ValueError):
        return None
    return kept if kept.origin == origin else None
