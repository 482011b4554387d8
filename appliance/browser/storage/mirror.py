"""Follows the session storage of the agent's tabs, which nothing but a page in the same tab can read.

It knows what an origin kept in a tab that shows another by now, but for what a page wrote just before it was left.
"""

import asyncio
from copy import deepcopy
from typing import Any

from appliance.browser.cdp import CdpConnection

Entries = dict[str, str]


class Mirror:
    """Session storage by origin and tab (the id of its session)."""

    def __init__(self, cdp: CdpConnection) -> None:
        """Begin to listen; `follow` each tab."""
        self._session: dict[str, dict[str, Entries]] = {}
        self._followed: set[str] = set()
        self._cdp = cdp
        self._ends = [
            cdp.on("DOMStorage.domStorageItemAdded", self._set),
            cdp.on("DOMStorage.domStorageItemUpdated", self._set),
            cdp.on("DOMStorage.domStorageItemRemoved", self._removed),
            cdp.on("DOMStorage.domStorageItemsCleared", self._cleared),
            cdp.on("Page.frameNavigated", self._navigated),
        ]

    def follow(self, session_id: str, opener_session: str = "") -> None:
        """Have a tab report; one that another opened begins with a copy of what that one's session storage held."""
        self._followed.add(session_id)
        self._cdp.post("DOMStorage.enable", None, session_id)
        for tabs in self._session.values():
            if opener_session in tabs:
                # Put first, since it is no change: the last one stays the opener's.
                copied = {session_id: deepcopy(tabs[opener_session]), **tabs}
                tabs.clear()
                tabs.update(copied)

    def session_of(self, origin: str) -> tuple[str, Entries] | None:
        """Return the tab in which the origin's session storage changed last, and its entries; None without any."""
        tabs = self._session.get(origin)
        if not tabs:
            return None
        return next(reversed(tabs.items()))

    def close(self) -> None:
        """Stop listening."""
        for end in self._ends:
            end()

    def _entries(self, params: dict[str, Any], session_id: str) -> Entries | None:
        storage = params["storageId"]
        # What a page keeps inside another site is apart, and its key says so.
        if storage["isLocalStorage"] or "^" in storage.get("storageKey", ""):
            return None
        origin = storage["securityOrigin"].rstrip("/")
        tabs = self._session.setdefault(origin, {})
        entries = tabs.pop(session_id, {})
        tabs[session_id] = entries
        return entries

    def _set(self, params: dict[str, Any], session_id: str) -> None:
        entries = self._entries(params, session_id)
        if entries is not None:
            entries[params["key"]] = params["newValue"]

    def _removed(self, params: dict[str, Any], session_id: str) -> None:
        entries = self._entries(params, session_id)
        if entries is not None:
            entries.pop(params["key"], None)

    def _cleared(self, params: dict[str, Any], session_id: str) -> None:
        entries = self._entries(params, session_id)
        if entries is not None:
            entries.clear()

    def _navigated(self, params: dict[str, Any], session_id: str) -> None:
        """Ask for everything, since a page may have written something and left before it was told."""
        origin = str(params["frame"].get("securityOrigin", "")).rstrip("/")
        if session_id not in self._followed or not origin.startswith(("http://", "https://")):
            return

        def take(answer: "asyncio.Future[dict[str, Any]]") -> None:
            if answer.cancelled() or answer.exception() is not None:
                return
            entries = {str(name): str(value) for name, value in answer.result()["entries"]}
            tabs = self._session.setdefault(origin, {})
            if session_id in tabs:
                tabs[session_id] = entries
            elif entries:
                self._session[origin] = {session_id: entries, **tabs}

        storage = {"storageKey": f"{origin}/", "isLocalStorage": False}
        asking = self._cdp.post("DOMStorage.getDOMStorageItems", {"storageId": storage}, session_id)
        asking.add_done_callback(take)


def origin_of(url: str) -> str:
    """Return the origin of an http or https address as Chromium writes it, "" of any other."""
    scheme, _, rest = url.partition("://")
    if scheme not in ("http", "https"):
        return ""
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2]
    default = ":80" if scheme == "http" else ":443"
    return f"{scheme}://{host.removesuffix(default)}"
