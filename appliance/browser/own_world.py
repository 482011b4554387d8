"""Every document of a tab with its place, and the page's own world in each: where its scripts and their values live.

The own world is entered only when something asks for it. Nothing stays behind in a page, and no page is watched.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from appliance.browser.cdp import CdpError
from appliance.browser.element import FrameLink
from appliance.browser.frames import World, call_parameters, value_of
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

FRAME_SECONDS = 2.0
MAX_DOCUMENTS = 60
MAX_DEPTH = 5


@dataclass(frozen=True)
class Document:
    """One document: its address, its isolated world, and the documents of the frames around it, the nearest first."""

    url: str
    world: World
    around: tuple["Document", ...] = ()

    @property
    def is_page(self) -> bool:
        """Whether it is the page itself and no frame."""
        return not self.around

    @property
    def page_url(self) -> str:
        """The address of the page it belongs to."""
        return self.around[-1].url if self.around else self.url


@dataclass(frozen=True)
class _Frame:
    frame_id: str
    parent_id: str
    url: str
    session_id: str


async def documents_of(tab: Tab) -> list[Document]:
    """Return every document of the tab, the page itself first; a frame that does not answer in 2 s is left out.

    Frames of all kinds and sizes count, also those in closed shadow roots. Raises as `Tab.run` for the page itself.
    """
    url = str(await tab.run("() => location.href"))
    page = Document(url, await tab.frames.world())
    sessions = {tab.session_id, *tab.frames.sessions.values()}
    found = await asyncio.gather(*(_frames_of(tab, session) for session in sessions))
    frames = {frame.frame_id: frame for frames in found for frame in frames}
    frames.pop(tab.frames.main_id, None)
    chosen = list(frames.values())[:MAX_DOCUMENTS]
    worlds = dict(
        zip([one.frame_id for one in chosen], await asyncio.gather(*(_world(tab, one) for one in chosen)), strict=True)
    )
    documents = [_placed(frame, frames, worlds, page) for frame in chosen]
    return [page, *(document for document in documents if document is not None)]


async def run_in_own_world(tab: Tab, world: World, function: str, *arguments: Any, timeout: float = 5.0) -> Any:
    """Call a function among the page's own scripts in the document of `world`, as if a person had just acted there.

    Arguments and result are JSON values; a promise is awaited. Raises ActionFailed, ScriptFailed for what the function
    throws, CdpError when the document is gone.
    """
    session = world.session_id
    params = call_parameters(world, "() => document.documentElement || document", (), by_value=False)
    answer = await tab.send("Runtime.callFunctionOn", params, session_id=session)
    value_of(answer)
    node = await tab.send("DOM.describeNode", {"objectId": answer["result"]["objectId"]}, session_id=session)
    # Without a context named, a node is handed out in the world of the page's own scripts.
    own = await tab.send("DOM.resolveNode", {"backendNodeId": node["node"]["backendNodeId"]}, session_id=session)
    object_id = own["object"]["objectId"]
    params = {
        "functionDeclaration": function,
        "objectId": object_id,
        "arguments": [{"value": argument} for argument in arguments],
        "returnByValue": True,
        "awaitPromise": True,
        "userGesture": True,
    }
    try:
        return value_of(await tab.send("Runtime.callFunctionOn", params, session_id=session, timeout=timeout))
    finally:
        for used in (object_id, answer["result"]["objectId"]):
            tab.post("Runtime.releaseObject", {"objectId": used}, session_id=session)


async def chain_to(tab: Tab, document: Document) -> tuple[FrameLink, ...]:
    """Return the frames that lead to a document, the outermost first, as elements need them for places on the screen.

    Raises ActionFailed or CdpError when one of them is gone.
    """
    links: list[FrameLink] = []
    inner = document
    for outer in document.around:
        session = outer.world.session_id
        owner = await tab.send("DOM.getFrameOwner", {"frameId": inner.world.frame_id}, session_id=session)
        params = {"backendNodeId": owner["backendNodeId"], "executionContextId": outer.world.context_id}
        node = await tab.send("DOM.resolveNode", params, session_id=session)
        call = {
            "functionDeclaration": "function() { return eyes.refer(this); }",
            "objectId": node["object"]["objectId"],
            "returnByValue": True,
        }
        reference = value_of(await tab.send("Runtime.callFunctionOn", call, session_id=session))
        links.append(FrameLink(outer.world, int(reference)))
        inner = outer
    return tuple(reversed(links))


async def _world(tab: Tab, frame: _Frame) -> World | None:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            return await tab.frames.world(frame.frame_id, frame.session_id)
    except (TimeoutError, CdpError, ActionFailed):
        return None


def _placed(
    frame: _Frame, frames: dict[str, _Frame], worlds: dict[str, World | None], page: Document
) -> Document | None:
    world = worlds[frame.frame_id]
    if world is None:
        return None
    around: list[Document] = []
    parent = frames.get(frame.parent_id)
    while parent is not None and len(around) < MAX_DEPTH:
        outer = worlds.get(parent.frame_id)
        if outer is None:
            return None
        around.append(Document(parent.url, outer))
        parent = frames.get(parent.parent_id)
    return Document(frame.url, world, (*around, page))


async def _frames_of(tab: Tab, session_id: str) -> list[_Frame]:
    try:
        answer = await tab.send("Page.getFrameTree", session_id=session_id, timeout=FRAME_SECONDS)
    except (CdpError, ActionFailed):
        return []
    found: list[_Frame] = []
    trees = [answer["frameTree"]]
    while trees:
        tree = trees.pop(0)
        frame = tree["frame"]
        url = str(frame["url"]) + str(frame.get("urlFragment", ""))
        owner = tab.frames.owner(frame["id"], session_id)
        found.append(_Frame(frame["id"], frame.get("parentId", ""), url, owner))
        trees += tree.get("childFrames", ())
    return found
