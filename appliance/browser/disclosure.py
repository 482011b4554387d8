"""Hands to the page's script what only the protocol can tell: closed shadow roots, and what listens for clicks.

Scripts see neither, whatever their world. A page that patches of ours would have to be hidden from is left as it is.
"""

import asyncio
from time import monotonic
from typing import Any

from appliance.browser.cdp import CdpError
from appliance.browser.frames import World
from appliance.browser.layout import Walk
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed, BrowserLost

CLICKS = frozenset({"click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"})
MAX_RESOLVED = 200
"""How many listening elements are handed over at a time; the rest follows with the next readings."""
LARGE_DOCUMENT = 12_000
"""From so many lines on a document is asked for its listeners once only: the answer takes long."""
SECONDS = 2.0
YOUNG_SECONDS = 5.0
GROUP = "disclosure"
ROOTS_GROUP = "roots"


class Disclosure:
    """Keeps for one tab which documents were asked for what."""

    def __init__(self, tab: Tab) -> None:
        """Begin with nothing asked."""
        self._tab = tab
        self._asked: dict[World, tuple[float, int]] = {}
        self._handed: dict[World, set[int]] = {}
        self._roots: dict[World, list[str]] = {}
        self._later: set[asyncio.Task[bool]] = set()

    def forget(self) -> None:
        """Begin anew, with a new document."""
        for known in (self._asked, self._handed, self._roots):
            known.clear()

    async def disclose(self, world: World, walk: Walk) -> bool:
        """Tell the script of a document what it could not see; True when it would read more now than it did."""
        since, before = self._asked.get(world, (0.0, -1))
        asks = not since or (before != walk.mutations and walk.total < LARGE_DOCUMENT)
        if walk.suspects or asks:
            # What one of before is handing over at this moment counts too.
            earlier = await asyncio.gather(*self._later)
            return await self._tell(world, walk, asks=asks) or any(earlier)
        if monotonic() - since < YOUNG_SECONDS and walk.total < LARGE_DOCUMENT and not self._later:
            # A script may begin to listen after the page is there, and change nothing else: good for the next reading.
            task = asyncio.create_task(self._tell(world, walk, asks=True))
            self._later.add(task)
            task.add_done_callback(self._later.discard)
        return False

    async def _tell(self, world: World, walk: Walk, *, asks: bool) -> bool:
        found = False
        try:
            async with asyncio.timeout(SECONDS):
                if walk.suspects:
                    found = await self._open_roots(world)
                if asks:
                    found = await self._hand_listening(world, walk.roots) or found
                    self._asked[world] = self._asked.get(world, (monotonic(), 0))[0], walk.mutations
        except (TimeoutError, CdpError, ActionFailed, BrowserLost):
            # The reading stands without it.
            self._roots.pop(world, None)
        else:
            self._tab.post("Runtime.releaseObjectGroup", {"objectGroup": GROUP}, session_id=world.session_id)
        return found

    async def _open_roots(self, world: World) -> bool:
        ids = await self._list(world, "() => eyes.suspects()")
        nodes = await asyncio.gather(
            *(self._tab.send("DOM.describeNode", {"objectId": one}, session_id=world.session_id) for one in ids)
        )
        roots = [root for node in nodes for root in node["node"].get("shadowRoots", ())]
        closed = [root["backendNodeId"] for root in roots if root["shadowRootType"] == "closed"]
        if not closed:
            return False
        await self._call(world, "(...roots) => eyes.openRoots(...roots)", await self._resolve(world, closed))
        return True

    async def _hand_listening(self, world: World, count: int) -> bool:
        roots = self._roots.get(world, [])
        if len(roots) != count:
            roots = self._roots[world] = await self._own_roots(world, count)
        answers = await asyncio.gather(*(self._listeners_in(root, world) for root in roots))
        listeners = [one for answer in answers for one in answer if one["type"] in CLICKS]
        handed = self._handed.setdefault(world, set())
        nodes = [one.get("backendNodeId") for one in listeners]
        fresh = [node for node in dict.fromkeys(nodes) if node and node not in handed][:MAX_RESOLVED]
        if not fresh:
            return False
        handed.update(fresh)
        objects = await self._resolve(world, fresh)
        result = await self._call(world, "(...nodes) => eyes.takeListening(...nodes)", objects)
        return bool(result.get("value"))

    async def _own_roots(self, world: World, count: int) -> list[str]:
        """Return the page's own objects for the document and the shadow roots that were read."""
        if count == 1 and world.frame_id == self._tab.frames.main_id:
            params = {"expression": "document", "objectGroup": ROOTS_GROUP}
            answer = await self._tab.send("Runtime.evaluate", params)
            return [answer["result"]["objectId"]]
        seen = await self._list(world, "() => eyes.rootsRead()")
        return await asyncio.gather(*(self._own(root, world) for root in seen))

    async def _own(self, root: str, world: World) -> str:
        """Return the page's own object for a document or shadow root that our world holds."""
        node = await self._tab.send("DOM.describeNode", {"objectId": root}, session_id=world.session_id)
        params: dict[str, Any] = {"backendNodeId": node["node"]["backendNodeId"], "objectGroup": ROOTS_GROUP}
        own = await self._tab.send("DOM.resolveNode", params, session_id=world.session_id)
        return own["object"]["objectId"]

    async def _listeners_in(self, root: str, world: World) -> list[dict[str, Any]]:
        """Return the listeners inside a document or shadow root, frames and further roots left out.

        Asked to pierce those, Chromium 156 now and then crashes; not asked to, it tells only the listeners of the world
        that the object belongs to, which has to be the page's own.
        """
        params = {"objectId": root, "depth": -1}
        answer = await self._tab.send("DOMDebugger.getEventListeners", params, session_id=world.session_id)
        return answer["listeners"]

    async def _list(self, world: World, function: str) -> list[str]:
        """Return the object ids of the elements of an array that a function returns."""
        array = await self._call(world, function)
        params = {"objectId": array["objectId"], "ownProperties": True}
        listed = await self._tab.send("Runtime.getProperties", params, session_id=world.session_id)
        return [one["value"]["objectId"] for one in listed["result"] if "objectId" in one.get("value", {})]

    async def _resolve(self, world: World, nodes: list[int]) -> list[str]:
        params = {"executionContextId": world.context_id, "objectGroup": GROUP}
        answers = await asyncio.gather(
            *(
                self._tab.send("DOM.resolveNode", {**params, "backendNodeId": node}, session_id=world.session_id)
                for node in nodes
            ),
            return_exceptions=True,
        )
        # One that has gone meanwhile, or lies in a frame that this world cannot enter, is left out.
        return [one["object"]["objectId"] for one in answers if not isinstance(one, BaseException)]

    async def _call(self, world: World, function: str, objects: list[str] | None = None) -> dict[str, Any]:
        params: dict[str, Any] = {
            "functionDeclaration": function,
            "executionContextId": world.context_id,
            "arguments": [{"objectId": one} for one in objects or ()],
            "objectGroup": GROUP,
        }
        answer = await self._tab.send("Runtime.callFunctionOn", params, session_id=world.session_id)
        return answer["result"]
