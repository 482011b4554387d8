"""Stops requests that policy refuses, in every tab and frame, before they leave the browser."""

import asyncio
from collections.abc import Callable
from typing import Any

from appliance.browser.cdp import CdpConnection
from appliance.browser.policy import Policy
from appliance.errors import ActionRefused


class Gate:
    """Asks policy about every document request and every request to ground that looks private.

    The browser itself is asked once: that covers tabs, pop-ups, redirects and frames of other processes alike.
    `on_refusal` gets the frame id, whether it was a document, and the reason.
    """

    def __init__(self, cdp: CdpConnection, policy: Policy, on_refusal: Callable[[str, bool, str], None]) -> None:
        """Listen on the browser's own session."""
        self._cdp = cdp
        self._policy = policy
        self._on_refusal = on_refusal
        self._tasks: set[asyncio.Task[None]] = set()
        cdp.on("Fetch.requestPaused", self._paused)

    def open(self) -> "asyncio.Future[dict[str, Any]]":
        """Send the command that begins interception."""
        return self._cdp.post("Fetch.enable", {"patterns": self._policy.interception_patterns()})

    def _paused(self, params: dict[str, Any], session_id: str) -> None:
        if session_id:
            # Somebody else's interception on a tab's session.
            return
        url = params["request"]["url"]
        if not self._policy.needs_lookup(url):
            self._decide(params, self._refusal(url))
            return
        task = asyncio.create_task(self._look_up(params, url))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _refusal(self, url: str) -> str | None:
        try:
            self._policy.check_url(url)
        except ActionRefused as error:
            return error.message
        return None

    async def _look_up(self, params: dict[str, Any], url: str) -> None:
        try:
            await self._policy.check_reachable(url)
        except ActionRefused as error:
            self._decide(params, error.message)
        except OSError:
            # Not resolvable for us is not resolvable for the browser: it must not get another answer than we did.
            self._cdp.post("Fetch.failRequest", {"requestId": params["requestId"], "errorReason": "NameNotResolved"})
        else:
            self._decide(params, None)

    def _decide(self, params: dict[str, Any], refusal: str | None) -> None:
        if refusal is None:
            self._cdp.post("Fetch.continueRequest", {"requestId": params["requestId"]})
            return
        self._on_refusal(params.get("frameId", ""), params.get("resourceType") == "Document", refusal)
        self._cdp.post("Fetch.failRequest", {"requestId": params["requestId"], "errorReason": "BlockedByClient"})
