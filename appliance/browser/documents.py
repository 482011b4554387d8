"""Reaches every document of a tab at once, those of other sites and processes included, each with a deadline."""

import asyncio
from dataclasses import dataclass
from html import escape
from typing import Any

from appliance.browser.cdp import CdpError
from appliance.browser.element import FrameLink
from appliance.browser.frames import World, call_parameters, value_of
from appliance.browser.pdf import fetch_pdf, read_pdf, shows_pdf
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

FRAME_SECONDS = 2.0
HTML_SECONDS = 30.0
MAX_DOCUMENTS = 60
MAX_DEPTH = 5


# What the scripts around a frame can enter they have seen.
ELSEWHERE = """(...given) => {
  if (innerWidth < 10 || innerHeight < 10) return null;
  try { if (parent !== window && parent.document) return null; } catch { /* another origin */ }
  return ({function})(...given);
}"""


@dataclass(frozen=True)
class Answer:
    """What a function returned in one document; `url` is that of a frame, "" for the page itself."""

    url: str
    world: World
    value: Any


@dataclass(frozen=True)
class Frame:
    """A frame of a tab: Chromium's id of it, its address, and the session that answers for it."""

    id: str
    url: str
    session_id: str


async def frames_of(tab: Tab) -> list[Frame]:
    """Return the frames of a tab, those of every process, at most 60; the page itself is none of them."""
    sessions = {tab.session_id, *tab.frames.sessions.values()}
    trees = await asyncio.gather(*(_frame_tree(tab, session) for session in sessions))
    return [frame for tree in trees for frame in tree if frame.id != tab.frames.main_id][:MAX_DOCUMENTS]


async def frame_id_of(tab: Tab, link: FrameLink) -> str:
    """Return Chromium's id of the frame in an element; raises ActionFailed when there is none, CdpError."""
    world = link.world
    params = call_parameters(world, "(reference) => eyes.find(reference)", (link.reference,), by_value=False)
    answer = await tab.send("Runtime.callFunctionOn", params, session_id=world.session_id)
    value_of(answer)
    object_id = answer["result"].get("objectId")
    if object_id is None:
        raise ActionFailed("it has left the page")
    node = await tab.send("DOM.describeNode", {"objectId": object_id}, session_id=world.session_id)
    tab.post("Runtime.releaseObject", {"objectId": object_id}, session_id=world.session_id)
    frame_id = node["node"].get("frameId")
    if not frame_id:
        raise ActionFailed("it has no document")
    return str(frame_id)


async def run_in_all(tab: Tab, function: str, *arguments: Any) -> list[Answer]:
    """Call a function in the page and in each frame of a size to be seen that the page's own scripts cannot enter.

    The page's answer is the first. A frame that does not answer within 2 s is left out. Raises as `Tab.run` for the
    page itself.
    """
    value = await tab.run(function, *arguments)
    own = Answer("", await tab.frames.world(), value)
    frames = await frames_of(tab)
    elsewhere = ELSEWHERE.replace("{function}", function)

    async def ask(frame: Frame) -> Answer | None:
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                world = await tab.frames.world(frame.id, frame.session_id)
                value = await tab.run(elsewhere, *arguments, world=world)
        except (TimeoutError, CdpError, ActionFailed):
            return None
        return Answer(frame.url, world, value) if value is not None else None

    answers = await asyncio.gather(*map(ask, frames))
    return [own, *(answer for answer in answers if answer is not None)]


async def html_of(tab: Tab) -> str:
    """Return the page as HTML, shadow roots and frames of all kinds in their places; raises as `Tab.run`."""
    found = await tab.run("() => eyes.html()", timeout=HTML_SECONDS)
    return await _with_frames(tab, found, await tab.frames.world(), 0)


async def _with_frames(tab: Tab, found: dict[str, Any], world: World, depth: int) -> str:
    html, references = str(found["html"]), found["frames"]
    if not references or depth >= MAX_DEPTH:
        return html
    inner = await asyncio.gather(
        *(_frame_html(tab, FrameLink(world, one), depth) for one in references[:MAX_DOCUMENTS])
    )
    for reference, text in zip(references, inner, strict=False):
        html = html.replace(f'<section data-frame-reference="{reference}">', f"<section>{text}", 1)
    return html


async def _frame_html(tab: Tab, link: FrameLink, depth: int) -> str:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            frame_id = await frame_id_of(tab, link)
            session_id = tab.frames.owner(frame_id, link.world.session_id)
            world = await tab.frames.world(frame_id, session_id)
            is_pdf = await shows_pdf(tab, world)
            found = None if is_pdf else await tab.run("() => eyes.html(true)", world=world)
        if found is None:
            return await _pdf_html(tab, world)
    except (TimeoutError, CdpError, ActionFailed):
        return ""
    return await _with_frames(tab, found, world, depth + 1)


async def _pdf_html(tab: Tab, world: World) -> str:
    """Return the text of a PDF that a frame shows, as HTML."""
    content = await asyncio.to_thread(read_pdf, await fetch_pdf(tab, world), tab.url)
    lines = (line.strip() for line in content.markdown.split("\n"))
    parts = (
        f"<h2>{escape(line[3:])}</h2>" if line.startswith("## ") else f"<p>{escape(line)}</p>" for line in lines if line
    )
    return "\n".join(parts)


async def _frame_tree(tab: Tab, session_id: str) -> list[Frame]:
    """Return the frames of a session."""
    try:
        answer = await tab.send("Page.getFrameTree", session_id=session_id, timeout=FRAME_SECONDS)
    except (CdpError, ActionFailed):
        return []
    found: list[Frame] = []
    trees = [answer["frameTree"]]
    while trees:
        tree = trees.pop(0)
        found.append(Frame(tree["frame"]["id"], tree["frame"]["url"], session_id))
        trees += tree.get("childFrames", ())
    return found
