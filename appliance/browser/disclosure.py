"""Hands to the page's script what only the protocol can tell: closed shadow roots, and what listens for clicks.

Scripts see neither, whatever their world. A page that patches of ours would have to be hidden from is left as it is.
"""

import asyncio
from typing import Any

from appliance.browser.cdp import CdpError
from appliance.browser.frames import World
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

CLICKS = frozenset({"click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"})
MAX_RESOLVED = 200
"""How many listening elements are handed over at a time; the rest follows with the next readings."""
LARGE_DOCUMENT = 12_000
"""From so many lines on a document is asked for its listeners once only: the answer takes long."""
SECONDS = 2.0
GROUP = "disclosure"


class Disclosure:
    """Keeps for one tab which documents were asked for what."""

    def __init__(self, tab: Tab) -> None:
        """Begin with nothing asked."""
        self._tab = tab
        self._asked: dict[World, int] = {}
        self._handed: dict[World, set[int]] = {}

    def forget(self) -> None:
        """Begin anew, with a new document."""
        self._asked.clear()
        self._handed.clear()

    async def disclose(self, world: World, *, suspects: int, mutations: int, lines: int) -> bool:
        """Tell the script of a document what it cannot see; True when it would read more now than it did.

        `suspects` are elements that may have a closed root, as the script counted them.
        """
        found = False
        try:
            async with asyncio.timeout(SECONDS):
                if suspects:
                    found = await self._open_roots(world)
                before = self._asked.get(world)
                if before is None or (before != mutations and lines < LARGE_DOCUMENT):
                    found = await self._hand_listening(world) or found
                    self._asked[world] = mutations
        except (TimeoutError, CdpError, ActionFailed):
            # The reading stands without it.
            return found
        finally:
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

    async def _hand_listening(self, world: World) -> bool:
        roots = await self._list(world, "() => eyes.rootsRead()")
        answers = await asyncio.gather(*(self._listeners_in(root, world.session_id) for root in roots))
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

    async def _listeners_in(self, root: str, session_id: str) -> list[dict[str, Any]]:
        """Return the listeners inside a document or shadow root, frames and further roots left out.

        Asked to pierce those, Chromium 156 now and then crashes; not asked to, it tells only the listeners of the world
        that the object belongs to, which has to be the page's own.
        """
        node = await self._tab.send("DOM.describeNode", {"objectId": root}, session_id=session_id)
        params: dict[str, Any] = {"backendNodeId": node["node"]["backendNodeId"], "objectGroup": GROUP}
        own = await self._tab.send("DOM.resolveNode", params, session_id=session_id)
        params = {"objectId": own["object"]["objectId"], "depth": -1}
        answer = await self._tab.send("DOMDebugger.getEventListeners", params, session_id=session_id)
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
