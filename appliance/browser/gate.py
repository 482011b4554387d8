"""Stops requests that policy refuses, in every tab, frame and worker, before they leave the browser."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.addresses import shown
from appliance.browser.cdp import CdpConnection
from appliance.browser.policy import Policy
from appliance.errors import ActionRefused

PASSIVE = frozenset({"Image", "Stylesheet", "Font", "Media", "Script", "TextTrack"})
"""What a page shows or runs, without being able to send anything in a body: may come from any public host."""


@dataclass(frozen=True)
class Refusal:
    """A request that was stopped: `address` names it without its query, `frame_id` is where it came from, if known."""

    address: str
    reason: str
    is_document: bool = False
    frame_id: str = ""

    @property
    def site(self) -> str:
        """The address as far as its host."""
        return "/".join(self.address.split("/")[:3])


class Gate:
    """Asks policy about every request that may have to be refused.

    The browser itself is asked once: that covers tabs, pop-ups, redirects, workers and frames of other processes alike.
    `on_refusal` gets what was stopped, `on_pass` the address of what was judged good. `carries_secret` says whether an
    address holds what must not leave the allowed domains. `before_document` gets address and frame of each document
    before it is let through. `blanks` are frames by id that get an empty document of the origin named, which no site
    is asked for, and nothing else.
    """

    def __init__(self, cdp: CdpConnection, policy: Policy, on_refusal: Callable[[Refusal], None]) -> None:
        """Listen on the browser's own session."""
        self.on_pass: Callable[[str], None] | None = None
        self.carries_secret: Callable[[str], bool] | None = None
        self.before_document: Callable[[str, str], None] | None = None
        self.blanks: dict[str, str] = {}
        self._cdp = cdp
        self._policy = policy
        self._on_refusal = on_refusal
        self._tasks: set[asyncio.Task[None]] = set()
        cdp.on("Fetch.requestPaused", self._paused)

    def open(self) -> "asyncio.Future[dict[str, Any]]":
        """Send the command that begins interception."""
        return self._cdp.post("Fetch.enable", {"patterns": self._policy.interception_patterns()})

    def use(self, policy: Policy) -> "asyncio.Future[dict[str, Any]]":
        """Judge by another policy from now on; returns the command that has the browser ask accordingly."""
        self._policy = policy
        return self.open()

    def _paused(self, params: dict[str, Any], session_id: str) -> None:
        if session_id:
            # Somebody else's interception on a tab's session.
            return
        origin = self.blanks.get(params.get("frameId", ""))
        if origin is not None:
            self._answer_blank(params, origin)
        elif not self._policy.needs_lookup(params["request"]["url"]):
            self._judge(params)
        else:
            task = asyncio.create_task(self._look_up(params))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _answer_blank(self, params: dict[str, Any], origin: str) -> None:
        request = {"requestId": params["requestId"]}
        if params.get("resourceType") != "Document" or not params["request"]["url"].startswith(f"{origin}/"):
            self._cdp.post("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            return
        headers = [{"name": "Content-Type", "value": "text/html; charset=utf-8"}]
        self._cdp.post("Fetch.fulfillRequest", {**request, "responseCode": 200, "responseHeaders": headers})

    def _judge(self, params: dict[str, Any]) -> None:
        try:
            self._policy.check_url(params["request"]["url"], is_passive=self._is_passive(params))
        except ActionRefused as error:
            self._refuse(params, error.message)
        else:
            self._let_through(params)

    async def _look_up(self, params: dict[str, Any]) -> None:
        try:
            await self._policy.check_reachable(params["request"]["url"], is_passive=self._is_passive(params))
        except ActionRefused as error:
            self._refuse(params, error.message)
        except OSError:
            # Not resolvable for us is not resolvable for the browser: it must not get another answer than we did.
            self._cdp.post("Fetch.failRequest", {"requestId": params["requestId"], "errorReason": "NameNotResolved"})
        else:
            self._let_through(params)

    def _is_passive(self, params: dict[str, Any]) -> bool:
        request = params["request"]
        if params.get("resourceType") not in PASSIVE or request["method"] != "GET" or request.get("hasPostData"):
            return False
        # A picture's address can carry as much as a form.
        return self.carries_secret is None or not self.carries_secret(request["url"])

    def _let_through(self, params: dict[str, Any]) -> None:
        if self.on_pass is not None:
            self.on_pass(params["request"]["url"])
        if self.before_document is not None and params.get("resourceType") == "Document":
            self.before_document(params["request"]["url"], params.get("frameId", ""))
        self._cdp.post("Fetch.continueRequest", {"requestId": params["requestId"]})

    def _refuse(self, params: dict[str, Any], reason: str) -> None:
        is_document = params.get("resourceType") == "Document"
        address = shown(params["request"]["url"])
        self._on_refusal(Refusal(address, reason, is_document, params.get("frameId", "")))
        self._cdp.post("Fetch.failRequest", {"requestId": params["requestId"], "errorReason": "BlockedByClient"})
