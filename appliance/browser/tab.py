"""One tab of the agent's browser: commands that cannot hang on a dialog, scripts, and navigation with its result."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal

from appliance.browser.cdp import CdpConnection, CdpError, CdpTimeout, SessionGone
from appliance.browser.frames import Frames, ScriptFailed, World, call_parameters, is_world_gone, value_of
from appliance.browser.observation import TabView
from appliance.browser.policy import Policy
from appliance.browser.waiting import Activity, Settling
from appliance.errors import ActionFailed, ActionRefused

COMMIT_SECONDS = 15.0
"""How long a navigation may take until the server's answer becomes the document."""
SETTLE_SECONDS = 5.0
"""How long a new document may take to settle."""
LOAD_SECONDS = 1.0
"""How much longer than its document and scripts a page's pictures are waited for."""

WORLD_SECONDS = 5.0
"""How long the page may take until scripts of ours can run in it: a large one on a busy machine needs a while."""
REPORTING_SECONDS = 5.0
"""How long a new tab is given until it reports what it does."""

RELAY_FAILED = "net::ERR_SOCKS_CONNECTION_FAILED"
"""What Chromium says of every host that could not be reached through the relay, which knows why."""

_NET_ERRORS = {
    "net::ERR_NAME_NOT_RESOLVED": "the name of the site cannot be resolved",
    "net::ERR_CONNECTION_REFUSED": "the site refused the connection",
    "net::ERR_CONNECTION_TIMED_OUT": "the site did not answer in time",
    "net::ERR_CONNECTION_RESET": "the connection was cut by the site",
    "net::ERR_EMPTY_RESPONSE": "the site closed the connection without an answer",
    "net::ERR_INTERNET_DISCONNECTED": "there is no connection to the internet",
    "net::ERR_TOO_MANY_REDIRECTS": "the site redirects in a circle",
    "net::ERR_INVALID_URL": "the address is not valid",
}


class DialogOpen(ActionFailed):
    """A native dialog stops the page; it has to be answered first."""


@dataclass(frozen=True)
class DialogView:
    """A native dialog that is open in a tab."""

    kind: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: str
    default_prompt: str
    url: str
    tab: "Tab"


@dataclass(frozen=True)
class Navigation:
    """Where a navigation led: `status` is the HTTP status of the document, `error` why it failed, if it did.

    `note` is a sentence about what is unusual (a download, a page that is still loading), "" otherwise.
    """

    from_url: str
    to_url: str
    status: int | None
    error: str | None
    is_download: bool = False
    note: str = ""
    duration_ms: int = 0


class Tab:
    """A tab. Its url and title are the last ones reported; `tab_id` is the short name the model uses."""

    def __init__(self, cdp: CdpConnection, policy: Policy, info: dict[str, Any], session_id: str) -> None:
        """Take over an attached page target; `info` is the protocol's TargetInfo."""
        self.target_id: str = info["targetId"]
        self.session_id = session_id
        self.opener_id: str = info.get("openerId", "")
        self.tab_id = self.target_id[-4:].lower()
        self.url: str = info.get("url", "")
        self.title: str = info.get("title", "")
        self.frames = Frames(cdp, self.target_id, session_id)
        self.activity = Activity(self.target_id)
        self.dialog: DialogView | None = None
        self.closed = False
        self.crashed = False
        self.refusals: list[str] = []
        self.explain: Callable[[str], str | None] = lambda _: None
        self.last_input = 0.0
        self.is_acted_on = False
        self.is_apart = False
        self._cdp = cdp
        self._policy = policy
        self._open: set[tuple[str, asyncio.Future[dict[str, Any]]]] = set()
        self._take = self.activity.handlers()
        self._is_focused = False
        self._reporting: asyncio.Future[dict[str, Any]] | None = None

    def use(self, policy: Policy) -> None:
        """Judge by another policy from now on which addresses may be opened here."""
        self._policy = policy

    def set_up(self) -> None:
        """Send, without waiting, what makes the tab report what it does."""
        self._reporting = self.frames.set_up(self.session_id)
        for method, params in (
            ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            ("Inspector.enable", None),
            ("Runtime.runIfWaitingForDebugger", None),
        ):
            self._cdp.post(method, params, self.session_id)

    def take(self, event: str, params: dict[str, Any]) -> None:
        """Hand an event of the tab's own session to its activity."""
        if event == "Page.domContentEventFired" and not self._is_focused:
            # So that the page behaves as in front of a person. Sent any earlier, before a first document is there,
            # it crashes the renderer now and then (Chromium 156).
            self._is_focused = True
            self._cdp.post("Emulation.setFocusEmulationEnabled", {"enabled": True}, self.session_id)
        self._take[event](params)

    def view(self, *, is_current: bool) -> TabView:
        """Return the tab as shown to the model."""
        return TabView(self.tab_id, self.url, self.title, is_current)

    @property
    def is_blocked(self) -> bool:
        """Whether a native dialog stops the page."""
        return self.dialog is not None

    async def send(
        self, method: str, params: dict[str, Any] | None = None, *, session_id: str = "", timeout: float = 10.0
    ) -> dict[str, Any]:
        """Send a command in the tab's session (or that of one of its frames) and return its result.

        With a native dialog, an `Input` command returns {} and a `Runtime` one raises DialogOpen. Raises ActionFailed
        when the tab is closed, has crashed or does not react in time, CdpError when Chromium refuses the command.
        """
        family = method.partition(".")[0]
        if family == "Input":
            self.last_input = monotonic()
        stoppable = family in ("Input", "Runtime", "DOM")
        if stoppable and self.dialog is not None:
            raise self._dialog_open()
        future = self._cdp.post(method, params, session_id or self.session_id)
        entry = (family, future)
        if stoppable:
            self._open.add(entry)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError as error:
            raise ActionFailed(f"The page did not react within {timeout:g} s ({method}).") from error
        except SessionGone as error:
            raise ActionFailed(self._gone()) from error
        finally:
            self._open.discard(entry)

    def post(self, method: str, params: dict[str, Any], *, session_id: str = "") -> None:
        """Send a command in the tab's session, or that of a frame, whose result nobody needs."""
        self._cdp.post(method, params, session_id or self.session_id)

    async def run(self, function: str, *arguments: Any, timeout: float = 5.0, world: World | None = None) -> Any:
        """Call a JavaScript function in the isolated world of a document, by default the main one.

        Arguments and result are JSON values; a promise is awaited. Raises ActionFailed, ScriptFailed for an error
        thrown by the function, CdpError when the given world is gone.
        """
        if world is not None:
            return await self._call(world, function, arguments, timeout)
        try:
            return await self._call(await self._main_world(), function, arguments, timeout)
        except CdpError as error:
            if not is_world_gone(error) or self.closed:
                raise
            self.frames.forget_all()
            return await self._call(await self._main_world(), function, arguments, timeout)

    async def evaluate(
        self, expression: str, *, world: Literal["main", "isolated"] = "main", timeout: float = 10.0
    ) -> Any:
        """Evaluate an expression in the page and return its JSON value; a promise is awaited.

        Raises ActionFailed with the page's own message when it throws.
        """
        params: dict[str, Any] = {
            "expression": expression,
            "returnByValue": True,
            "awaitPromise": True,
            "userGesture": True,
            "allowUnsafeEvalBlockedByCSP": True,
        }
        if world == "isolated":
            params["contextId"] = (await self._main_world()).context_id
        self.last_input = monotonic()
        try:
            return value_of(await self.send("Runtime.evaluate", params, timeout=timeout), "Runtime.evaluate")
        except ScriptFailed as error:
            raise ActionFailed(f"The code failed in the page: {error.message}") from error
        except CdpError as error:
            raise ActionFailed("The page went away while the code ran in it.") from error

    async def navigate(self, url: str) -> Navigation:
        """Open an address and wait until the page has settled, for at most 15 s + 5 s.

        Raises ActionRefused when policy forbids it or one of its redirects. A site that cannot be reached is told in
        `Navigation.error`, a page that never finishes in `Navigation.note`.
        """
        self._policy.check_url(url)
        return await self._go("Page.navigate", {"url": url})

    async def load(self, url: str) -> Navigation:
        """Open an address and return once its document has begun; otherwise as `navigate`."""
        self._policy.check_url(url)
        return await self._go("Page.navigate", {"url": url}, settles=False)

    async def reload(self) -> Navigation:
        """Load the document again; as `navigate`."""
        return await self._go("Page.reload", {})

    async def go_back(self) -> Navigation:
        """Go back one entry of the tab's history; raises ActionFailed when there is none."""
        history = await self.send("Page.getNavigationHistory")
        position = int(history["currentIndex"]) - 1
        if position < 0 or (position == 0 and history["entries"][0]["url"] == "about:blank"):
            raise ActionFailed("This tab has no earlier page to go back to.")
        return await self._go("Page.navigateToHistoryEntry", {"entryId": history["entries"][position]["id"]})

    def frame_changed(self, frame_id: str) -> None:
        """Take note that a frame of the tab has a new document, or is gone."""
        self.frames.frame_changed(frame_id)
        self.activity.frame_arrived(frame_id)

    def dialog_opened(self, dialog: DialogView) -> None:
        """Take note of a native dialog and let go of whoever waits for the page."""
        self.dialog = dialog
        for family, future in self._open:
            if future.done():
                continue
            if family == "Input":
                future.set_result({})
            else:
                future.set_exception(self._dialog_open())
        self.activity.touch()

    def dialog_closed(self) -> None:
        """Take note that the dialog is answered."""
        self.dialog = None
        self.activity.touch()

    def ended(self, *, crashed: bool) -> None:
        """Take note that the tab was closed or its renderer crashed, and let go of whoever waits for it."""
        self.crashed, self.closed = crashed, not crashed
        self._cdp.end_session(self.session_id, self._gone())
        self.frames.forget_all()
        self.activity.touch()

    async def _go(self, method: str, params: dict[str, Any], *, settles: bool = True) -> Navigation:
        start, from_url, before = monotonic(), self.url, self.activity.document
        self.refusals.clear()
        self.crashed = False
        if self._reporting is not None:
            # A document that begins before its tab reports would be waited for in vain.
            await asyncio.wait((self._reporting,), timeout=REPORTING_SECONDS)
        asking = self._cdp.post(method, params, self.session_id)
        answer = await self._wait_for_commit(asking, before)
        if self.refusals:
            raise ActionRefused(self.refusals[-1])
        error, is_download, note = _read_answer(answer, self.explain(str(params.get("url", self.url))))
        if answer is None:
            note = "A dialog is open." if self.dialog else await self._give_up()
        elif settles and not is_download:
            note = await self._settle_document()
        status = self.activity.status if error is None and not is_download and answer is not None else None
        return Navigation(from_url, self.url, status, error, is_download, note, round((monotonic() - start) * 1000))

    async def _wait_for_commit(self, asking: "asyncio.Future[dict[str, Any]]", before: str) -> dict[str, Any] | None:
        """Return the answer once the new document is there; None when a dialog or the clock came first."""
        end = monotonic() + COMMIT_SECONDS
        while (left := end - monotonic()) > 0:
            if asking.done():
                answer = self._result_of(asking)
                same_document = "loaderId" not in answer and answer.get("frameId")
                failed = answer.get("errorText") or answer.get("isDownload")
                if same_document or failed or self.activity.document != before:
                    return answer
            if self.crashed or self.closed:
                raise ActionFailed(self._gone())
            if (self.dialog is not None and not self.is_apart) or self.refusals:
                return None if not asking.done() else self._result_of(asking)
            change = self.activity.next_change()
            waiting: set[asyncio.Future[Any]] = {change} if asking.done() else {change, asking}
            await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            change.cancel()
        return None

    def _result_of(self, asking: "asyncio.Future[dict[str, Any]]") -> dict[str, Any]:
        try:
            return asking.result()
        except SessionGone as error:
            raise ActionFailed(self._gone()) from error
        except CdpError as error:
            if "invalid URL" in error.message:
                raise ActionFailed("The address is not valid; correct it.") from error
            raise

    async def _give_up(self) -> str:
        with suppress(ActionFailed, CdpError):
            await self.send("Page.stopLoading", timeout=2.0)
        return f"The site did not answer within {COMMIT_SECONDS:g} s; what is shown is the page from before."

    async def _settle_document(self) -> str:
        settling = Settling(self, SETTLE_SECONDS)
        outcome = await settling.wait()
        end = monotonic() + LOAD_SECONDS
        while outcome == "quiet" and not self.activity.loaded and (left := end - monotonic()) > 0:
            await self.activity.wait(left)
        return "The page is still loading." if outcome == "cap" else ""

    async def _main_world(self) -> World:
        try:
            return await self.frames.world(timeout=WORLD_SECONDS)
        except SessionGone as error:
            raise ActionFailed(self._gone()) from error
        except CdpTimeout as error:
            raise ActionFailed("The page does not react.") from error

    async def _call(self, world: World, function: str, arguments: tuple[Any, ...], timeout: float) -> Any:
        params = call_parameters(world, function, arguments)
        return value_of(await self.send("Runtime.callFunctionOn", params, session_id=world.session_id, timeout=timeout))

    def _dialog_open(self) -> DialogOpen:
        assert self.dialog is not None
        return DialogOpen(f"A {self.dialog.kind} dialog is open ({self.dialog.message[:200]!r}); answer it first.")

    def _gone(self) -> str:
        if self.crashed:
            return "The page in this tab has crashed; navigate to go on."
        return "The tab was closed."


def _read_answer(answer: dict[str, Any] | None, reason: str | None) -> tuple[str | None, bool, str]:
    if answer is None:
        return None, False, ""
    if answer.get("isDownload"):
        return None, True, "The address is a file; it was downloaded and the page stayed."
    text = answer.get("errorText")
    if not text:
        return None, False, ""
    if reason is not None and text == RELAY_FAILED:
        return reason, False, ""
    return f"{_NET_ERRORS.get(text, 'the page could not be loaded')} ({text})", False, ""
