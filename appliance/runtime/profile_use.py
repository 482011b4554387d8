"""A profile in a browser: given to it before its first page, taken back and merged after each run.

Whatever goes wrong with taking it back, the profile stays as it was, and the feed says so.
"""

import asyncio
from dataclasses import replace
from typing import Protocol
from uuid import UUID

import structlog

from appliance.browser.connection import Browser
from appliance.browser.storage.in_use import Captured, StorageInUse
from appliance.errors import CaptureFailed, MachineFault, NotFound, PilothouseError
from appliance.events import Notice
from appliance.profiles.jar import Jar
from appliance.runtime.profiles import CheckedOut

SAVE_CAP = 8.0
"""Seconds that taking a profile back from its browser may take."""
MOST_NAMED = 5

log = structlog.get_logger()


class ProfileStore(Protocol):
    """Where profiles are kept."""

    async def check_out(self, profile_id: UUID, team_id: UUID | None) -> CheckedOut:
        """Return the newest version of the team's profile; raises NotFound."""
        ...

    async def check_in(self, checked_out: CheckedOut, captured: Jar, session_id: UUID) -> object | None:
        """Merge what the session changed into the profile, in one transaction; None when the profile is gone."""
        ...


class ProfileUse:
    """One profile in one browser; it goes with the browser."""

    def __init__(self, store: ProfileStore, checked_out: CheckedOut, storage: StorageInUse) -> None:
        """Use `begin`."""
        self._store = store
        self._checked_out = checked_out
        self._storage = storage

    @classmethod
    async def begin(cls, store: ProfileStore, profile_id: UUID, team_id: UUID | None, browser: Browser) -> "ProfileUse":
        """Give the team's profile to a browser that has shown no page yet.

        Raises BrowserLost; MachineFault when the profile was deleted meanwhile.
        """
        try:
            checked_out = await store.check_out(profile_id, team_id)
        except NotFound as error:
            raise MachineFault("The profile of this session was deleted; start a session with another one.") from error
        return cls(store, checked_out, await StorageInUse.restore(browser, checked_out.jar))

    async def save(self, session_id: UUID) -> Notice | None:
        """Merge what the browser keeps by now into the profile; returns what the feed should say of that, if anything.

        What comes out of the browser empty or not at all changes nothing, and a deleted profile stays deleted.
        """
        before = self._checked_out
        try:
            async with asyncio.timeout(SAVE_CAP):
                captured = await self._storage.capture()
            if captured.jar.is_empty and not before.jar.is_empty:
                raise CaptureFailed("The browser gave back nothing at all.")
            merged = await self._store.check_in(before, captured.jar, session_id)
        except TimeoutError:
            return _not_saved(session_id, f"The browser did not give it back within {SAVE_CAP:g} s.")
        except PilothouseError as error:
            return _not_saved(session_id, error.message)
        if merged is None:
            log.info("what a session changed has no profile to go to", session=str(session_id))
            return None
        # What others changed meanwhile is not in this browser, and must not count as deleted by it.
        self._checked_out = replace(before, jar=captured.jar)
        return _partly_saved(captured) if captured.failures else None

    def close(self) -> None:
        """Leave the browser alone."""
        self._storage.close()


def _not_saved(session_id: UUID, reason: str) -> Notice:
    log.warning("a profile was not saved", session=str(session_id), reason=reason)
    text = f"The profile was not saved and stays as it was. {reason}"
    return Notice(code="profile_not_saved", text=text, is_trouble=True)


def _partly_saved(captured: Captured) -> Notice:
    named = "; ".join(f"{one.origin}: {one.reason}" for one in captured.failures[:MOST_NAMED])
    more = len(captured.failures) - MOST_NAMED
    rest = f"; {more} more" if more > 0 else ""
    text = f"The profile was saved, but not all of what these sites keep: {named}{rest}."
    return Notice(code="profile_partly_saved", text=text, is_trouble=True)
