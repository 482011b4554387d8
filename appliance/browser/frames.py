"""The frames of one tab: which session owns each, and the isolated world in each where our scripts run.

Frames of other sites live in processes of their own (out-of-process frames) and have a session each.
"""

import asyncio
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from appliance.browser.cdp import CdpConnection, CdpError, SessionGone
from appliance.surrogates import make_whole

# The print preview stops the page until a person closes it. A page that prints hears what it would hear of a printer.
NO_PRINTING = """window.print = ({ print() {
  dispatchEvent(new Event('beforeprint'));
  dispatchEvent(new Event('afterprint'));
} }).print"""
WORLD_NAME = "pilothouse"
SCRIPTS = (
    "dom.js",
    "watch.js",
    "words.js",
    "graphics.js",
    "kinds.js",
    "kin.js",
    "walk.js",
    "describe.js",
    "view.js",
    "collect.js",
    "reach.js",
    "recheck.js",
)


@dataclass(frozen=True)
class World:
    """An isolated world of one document: valid until the document goes away."""

    frame_id: str
    session_id: str
    context_id: int


class ScriptFailed(CdpError):
    """A script threw an error inside the page."""


@cache
def page_script() -> str:
    """Return the script that is put into the isolated world of every document."""
    folder = files("appliance.browser") / "js"
    parts = [(folder / name).read_text() for name in SCRIPTS]
    # Run once per world, also when several sessions bring it along.
    return "if (!globalThis.eyes) { globalThis.eyes = {};\n" + "\n".join(parts) + "\n}"


class Frames:
    """Frames of one tab, kept by events; `main_id` is the frame id of the tab itself."""

    def __init__(self, cdp: CdpConnection, main_id: str, session_id: str) -> None:
        """Begin with the main frame alone."""
        self.main_id = main_id
        self.session_id = session_id
        self.sessions: dict[str, str] = {}
        self._cdp = cdp
        self._worlds: dict[tuple[str, str], World] = {}

    def set_up(self, session_id: str) -> "asyncio.Future[dict[str, Any]]":
        """Send what makes a session (of the tab, or of a frame in another process) report and carry our script.

        Returns what is done once the session reports its documents.
        """
        reporting = self._cdp.post("Page.enable", None, session_id)
        self._cdp.post(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": page_script(), "worldName": WORLD_NAME, "runImmediately": True},
            session_id,
        )
        self._cdp.post(
            "Page.addScriptToEvaluateOnNewDocument", {"source": NO_PRINTING, "runImmediately": True}, session_id
        )
        # Nobody could answer the desktop's own file chooser. Held back from the start, as a click may come before a
        # command that is sent with it.
        self._cdp.post("Page.setInterceptFileChooserDialog", {"enabled": True}, session_id)
        self._cdp.post(
            "Target.setAutoAttach",
            {
                "autoAttach": True,
                "waitForDebuggerOnStart": False,
                "flatten": True,
                "filter": [{"type": "iframe"}],
            },
            session_id,
        )
        return reporting

    def frame_attached(self, frame_id: str, session_id: str) -> None:
        """Note a frame that got a process of its own."""
        self.sessions[frame_id] = session_id
        self.set_up(session_id)

    def frame_changed(self, frame_id: str) -> None:
        """Forget the worlds of a frame whose document went away."""
        for key in [key for key in self._worlds if key[0] == frame_id]:
            del self._worlds[key]

    def session_ended(self, session_id: str) -> None:
        """Forget a session and its worlds."""
        for frame_id in [frame for frame, session in self.sessions.items() if session == session_id]:
            del self.sessions[frame_id]
        for key in [key for key in self._worlds if key[1] == session_id]:
            del self._worlds[key]

    def forget_all(self) -> None:
        """Forget every world, as the main document went away."""
        self._worlds.clear()

    def has_session(self, session_id: str) -> bool:
        """Whether the session is the tab's or that of one of its frames."""
        return session_id == self.session_id or session_id in self.sessions.values()

    def owner(self, frame_id: str, parent_session: str) -> str:
        """Return the session that answers for a frame whose element lives in `parent_session`."""
        return self.sessions.get(frame_id, parent_session)

    async def world(self, frame_id: str = "", session_id: str = "", timeout: float = 2.0) -> World:
        """Return the isolated world of a frame, by default the main one; raises CdpError when there is none."""
        frame_id, session_id = frame_id or self.main_id, session_id or self.session_id
        known = self._worlds.get((frame_id, session_id))
        if known is not None:
            return known
        made = await self._cdp.send(
            "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": WORLD_NAME}, session_id, timeout
        )
        world = World(frame_id, session_id, int(made["executionContextId"]))
        self._worlds[frame_id, session_id] = world
        return world


def call_parameters(
    world: World, function: str, arguments: tuple[Any, ...], *, by_value: bool = True
) -> dict[str, Any]:
    """Return the parameters of Runtime.callFunctionOn for a function in a world, with JSON arguments."""
    return {
        "functionDeclaration": function,
        "executionContextId": world.context_id,
        "arguments": [{"value": argument} for argument in arguments],
        "returnByValue": by_value,
        "awaitPromise": True,
        "userGesture": False,
    }


def value_of(answer: dict[str, Any], method: str = "Runtime.callFunctionOn") -> Any:
    """Return the value in the answer of a Runtime command; raises ScriptFailed with the page's own message."""
    failure = answer.get("exceptionDetails")
    if failure is not None:
        thrown = failure.get("exception", {})
        text = thrown.get("description") or json.dumps(thrown.get("value")) or failure.get("text", "")
        raise ScriptFailed(str(text).partition("\n    at ")[0], method=method)
    value = answer.get("result", {}).get("value")
    # JSON of a script of ours may hold half a character as an escape; what looks like one in other text is text.
    return make_whole(value) if isinstance(value, str) and value.startswith(("{", "[")) else value


def decode(text: str) -> Any:
    """Decode a JSON text that a script of ours returned."""
    return msgspec.json.decode(text)


def is_world_gone(error: CdpError) -> bool:
    """Whether a command failed because the document it was meant for has gone."""
    gone = ("Cannot find context", "context was destroyed", "navigated or closed", "No frame", "Frame with")
    return isinstance(error, SessionGone) or any(words in error.message for words in gone)
