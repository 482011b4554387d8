"""A numbered element of the last observation, reachable for actions as long as its document lives."""

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from appliance.browser.cdp import CdpError
from appliance.browser.frames import ScriptFailed, World, call_parameters, is_world_gone, value_of
from appliance.browser.observation import ElementView
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed, ElementGone


@dataclass(frozen=True)
class Point:
    """A point in the main viewport, in CSS pixels; `covered_by` names what lies on top of the element there."""

    x: float
    y: float
    covered_by: str | None = None


@dataclass(frozen=True)
class FrameLink:
    """The element of an enclosing frame in another document: where its frame's coordinates begin."""

    world: World
    reference: int


class Element:
    """A numbered element; every method raises ElementGone when it is no longer on the page."""

    def __init__(
        self, tab: Tab, view: ElementView, world: World, reference: int, chain: tuple[FrameLink, ...] = ()
    ) -> None:
        """Stand for the element that `world` knows as `reference`, inside the frames of `chain`, outermost first."""
        self.tab = tab
        self.view = view
        self._world = world
        self._reference = reference
        self._chain = chain

    @property
    def world(self) -> World:
        """The isolated world of the element's document, or of the one around a frame of the same origin."""
        return self._world

    @property
    def key(self) -> tuple[World, int]:
        """What tells the element from all others as long as its document lives."""
        return self._world, self._reference

    def is_same(self, other: "Element") -> bool:
        """Whether both stand for one element of one document."""
        return self.key == other.key

    def numbered(self, index: int) -> "Element":
        """Return the same element under another number."""
        return Element(self.tab, replace(self.view, index=index), self._world, self._reference, self._chain)

    async def call(self, function_js: str, *arguments: Any, timeout: float = 10.0) -> Any:
        """Call a JavaScript function with `this` = the element, in the isolated world; JSON in and out.

        A promise is awaited. Raises ActionFailed with the page's message when the function throws.
        """
        self.tab.last_input = monotonic()
        wrapped = (
            "function(reference, ...rest) { const element = eyes.find(reference);"
            f" return element ? Promise.resolve(({function_js}).apply(element, rest)).then((value) => ({{ value }}))"
            " : { gone: true }; }"
        )
        answer = await self._run(self._world, wrapped, self._reference, *arguments, timeout=timeout)
        if answer.get("gone"):
            raise self._gone()
        return answer.get("value")

    async def part(self, pick_js: str, *arguments: Any) -> "Element | None":
        """Return another node of the same document as an element, None when there is none.

        `pick_js` is called with `this` = the element, and returns a reference got from `eyes.refer`, or null.
        """
        reference = await self.call(pick_js, *arguments)
        if reference is None:
            return None
        return Element(self.tab, self.view, self._world, int(reference), self._chain)

    async def recheck(self) -> str | None:
        """Return None when the element still is what it was when last shown, else a sentence on what is different.

        One command: it is connected, has the same role, words and state, and nothing has come to lie on it.
        """
        try:
            change = await self._run(self._world, "(reference) => eyes.recheck(reference)", self._reference)
        except ElementGone:
            change = "is no longer on the page"
        return f"[{self.view.index}] {change}" if change else None

    async def scroll_into_view(self) -> None:
        """Scroll whatever must be scrolled so that the element's middle is in view."""
        answer = await self._run(self._world, "(reference) => eyes.reveal(reference)", self._reference)
        if answer is None:
            raise self._gone()

    async def click_point(self) -> Point:
        """Return where a click reaches the element, scrolling to it when needed.

        Raises ActionFailed when it has no box on the page.
        """
        return await self._outward(
            await self._run(self._world, "(reference) => eyes.point(reference)", self._reference)
        )

    async def point_in(self, spot: tuple[float, float]) -> Point:
        """Return where a place in the element is, `spot` being the parts of its width and height; as `click_point`."""
        place_js = "(reference, across, down) => eyes.pointIn(reference, across, down)"
        return await self._outward(await self._run(self._world, place_js, self._reference, *spot))

    async def _outward(self, answer: dict[str, Any] | None) -> Point:
        """Return the point that the element's document answered with, as one of the main viewport."""
        if answer is None:
            raise self._gone()
        if "x" not in answer:
            raise ActionFailed(f"[{self.view.index}] is not visible, so it cannot be pointed at.")
        x, y, covered_by = float(answer["x"]), float(answer["y"]), answer.get("covered")
        for link in reversed(self._chain):
            outer = await self._run(
                link.world, "(reference, x, y) => eyes.outward(reference, x, y)", link.reference, x, y
            )
            if outer is None:
                raise self._gone()
            x, y, covered_by = float(outer["x"]), float(outer["y"]), covered_by or outer.get("covered")
        return Point(x, y, covered_by)

    async def backend_node_id(self, pick_js: str = "function() { return this; }") -> int:
        """Return Chromium's id of the node that `pick_js` returns, by default the element; DOM commands take it."""
        find = f"(reference) => {{ const found = eyes.find(reference); return found && ({pick_js}).call(found); }}"
        params = call_parameters(self._world, find, (self._reference,), by_value=False)
        try:
            answer = await self.tab.send("Runtime.callFunctionOn", params, session_id=self._world.session_id)
            object_id = answer.get("result", {}).get("objectId")
            if object_id is None:
                raise self._gone()
            node = await self.send("DOM.describeNode", {"objectId": object_id})
            await self.send("Runtime.releaseObject", {"objectId": object_id})
        except CdpError as error:
            raise self._translated(error) from error
        return int(node["node"]["backendNodeId"])

    async def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a command in the session that owns the element (an out-of-process frame has its own)."""
        return await self.tab.send(method, params, session_id=self._world.session_id)

    async def _run(self, world: World, function: str, *arguments: Any, timeout: float = 5.0) -> Any:
        params = call_parameters(world, function, arguments)
        try:
            return value_of(
                await self.tab.send("Runtime.callFunctionOn", params, session_id=world.session_id, timeout=timeout)
            )
        except CdpError as error:
            raise self._translated(error) from error

    def _translated(self, error: CdpError) -> ActionFailed:
        if isinstance(error, ScriptFailed):
            return ActionFailed(f"The page answered with an error: {error.message}")
        if is_world_gone(error):
            return self._gone("its page or frame was left or loaded anew")
        return ActionFailed(error.message)

    def _gone(self, reason: str = "it was removed or built anew") -> ElementGone:
        name = f'[{self.view.index}] <{self.view.tag}> "{self.view.name[:80]}"'
        return ElementGone(
            f"{name} is no longer on the page: {reason}. Look again.", lasting=f"{name} was no longer on the page."
        )
