"""Dialogs that a page opens (alert, confirm, prompt, leaving): shown, never answered by themselves, never a hang."""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from appliance.browser.cdp import CdpConnection, CdpError
from appliance.errors import ActionFailed

T = TypeVar("T")

MAX_MESSAGE = 500


@dataclass(frozen=True)
class Dialog:
    """An open dialog; `kind` is alert, confirm, prompt or beforeunload, `suggestion` a prompt's preset text."""

    kind: str
    message: str
    suggestion: str
    url: str
    session_id: str

    def describe(self) -> str:
        """Return a clause such as: a confirm dialog is open: "Delete everything?"."""
        if self.kind == "beforeunload":
            return "a dialog is open that asks whether to leave this page and lose what was entered"
        article = "an" if self.kind == "alert" else "a"
        preset = f' (preset text "{self.suggestion}")' if self.suggestion else ""
        return f'{article} {self.kind} dialog is open: "{self.message}"{preset}'


class Dialogs:
    """The dialogs that are open in a browser. While one is, its tab answers nothing else."""

    def __init__(self, cdp: CdpConnection) -> None:
        """Listen on the socket; the Page domain has to be enabled in each tab's session."""
        self.opened = asyncio.Event()
        self._cdp = cdp
        self._open: dict[str, Dialog] = {}
        self._stop_listening = (
            cdp.on("Page.javascriptDialogOpening", self._take_opening),
            cdp.on("Page.javascriptDialogClosed", self._take_closed),
            cdp.on("Target.detachedFromTarget", self._take_detached),
        )

    @property
    def current(self) -> Dialog | None:
        """The dialog that was opened last, None when there is none."""
        return next(reversed(self._open.values()), None)

    def open_in(self, session_id: str) -> Dialog | None:
        """Return the dialog that holds the tab of this session."""
        return self._open.get(session_id)

    async def answer(self, *, accept: bool, text: str | None = None) -> Dialog:
        """Press OK (or Cancel) in the current dialog and return it; raises ActionFailed when none is open."""
        dialog = self.current
        if dialog is None:
            raise ActionFailed("There is no dialog to answer; it may have closed by itself.")
        params: dict[str, Any] = {"accept": accept}
        if accept and dialog.kind == "prompt":
            params["promptText"] = dialog.suggestion if text is None else text
        try:
            await self._cdp.send("Page.handleJavaScriptDialog", params, dialog.session_id, timeout=5.0)
        except CdpError as error:
            self._forget(dialog.session_id)
            raise ActionFailed("The dialog could not be answered; it had closed already.") from error
        # A next dialog may have opened before the answer's own reply came; it must not be forgotten.
        if self._open.get(dialog.session_id) is dialog:
            self._forget(dialog.session_id)
        return dialog

    async def unless_opened(self, work: Awaitable[T]) -> T | None:
        """Return the result of `work`, or None as soon as a dialog is open; the work is then left behind."""
        task = asyncio.ensure_future(work)
        opened = asyncio.ensure_future(self.opened.wait())
        try:
            await asyncio.wait((task, opened), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            return None
        finally:
            opened.cancel()
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, CdpError):
                    await task

    async def all_unless_opened(self, futures: Iterable[Awaitable[Any]]) -> bool:
        """Wait for all of them, or until a dialog is open; returns whether all were done. Raises their errors."""
        done = await self.unless_opened(asyncio.gather(*futures))
        return done is not None

    def close(self) -> None:
        """Listen no more."""
        for stop in self._stop_listening:
            stop()

    def _take_opening(self, params: dict[str, Any], session_id: str) -> None:
        self._open[session_id] = Dialog(
            kind=str(params.get("type", "alert")),
            message=str(params.get("message", ""))[:MAX_MESSAGE],
            suggestion=str(params.get("defaultPrompt", "")),
            url=str(params.get("url", "")),
            session_id=session_id,
        )
        self.opened.set()

    def _take_closed(self, _: dict[str, Any], session_id: str) -> None:
        self._forget(session_id)

    def _take_detached(self, params: dict[str, Any], _: str) -> None:
        self._forget(str(params.get("sessionId", "")))

    def _forget(self, session_id: str) -> None:
        self._open.pop(session_id, None)
        if not self._open:
            self.opened.clear()
