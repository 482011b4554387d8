"""The cookies of a browser, all of them at once: put in, and taken back so that an untouched one is what was put in."""

from collections.abc import Sequence
from time import time
from typing import Any

import msgspec
import structlog

from appliance.browser.cdp import CdpConnection, CdpError
from appliance.profiles.jar import Cookie, CookieIdentity

_log = structlog.get_logger()


class CookieShelf:
    """The cookies that were put into a browser, and what became of them."""

    def __init__(self, cdp: CdpConnection) -> None:
        self._cdp = cdp
        self._given: dict[CookieIdentity, Cookie] = {}
        self._held: dict[CookieIdentity, Cookie] = {}

    async def put(self, cookies: Sequence[Cookie]) -> None:
        """Put the cookies in; those that the browser refuses are kept in mind. Raises CdpError, BrowserLost."""
        now = time()
        self._given = {one.identity: one for one in cookies if one.expires == -1 or one.expires > now}
        if not self._given:
            return
        refused = await self._put(list(self._given.values()))
        # Some are held otherwise than they were given: for a shorter time, or not at all.
        self._held = {one.identity: one for one in await self._read()}
        if refused or len(self._held) < len(self._given):
            _log.info("the browser did not take every cookie", given=len(self._given), held=len(self._held))

    async def take(self) -> tuple[Cookie, ...]:
        """Return all cookies as they are now, and those that were never taken. Raises CdpError, BrowserLost."""
        found = {one.identity: one for one in await self._read()}
        taken = {
            identity: self._given[identity] if self._held.get(identity) == one and identity in self._given else one
            for identity, one in found.items()
        }
        for identity, one in self._given.items():
            if identity not in self._held:
                taken.setdefault(identity, one)
        return tuple(taken[identity] for identity in sorted(taken))

    async def _read(self) -> list[Cookie]:
        answer = await self._cdp.send("Storage.getCookies")
        return [msgspec.convert(one, Cookie) for one in answer["cookies"] if not _is_opaque(one)]

    async def _put(self, cookies: list[Cookie]) -> int:
        """Put cookies in; returns how many were refused, which the browser tells of all it gets at once only."""
        wire: list[Any] = [msgspec.to_builtins(one) for one in cookies]
        try:
            await self._cdp.send("Storage.setCookies", {"cookies": wire})
        except CdpError as error:
            if not error.code:
                raise
            if len(cookies) == 1:
                return 1
            half = len(cookies) // 2
            return await self._put(cookies[:half]) + await self._put(cookies[half:])
        return 0


def _is_opaque(wire: dict[str, Any]) -> bool:
    """Whether a cookie belongs to a document without an address of its own, which never comes again."""
    return bool(wire.get("partitionKeyOpaque"))
