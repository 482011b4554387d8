"""The browsers of keep-alive sessions between their runs: each waits, as its run left it, for the session's next task.

One that waits too long is closed, one that dies is let go, and the oldest gives way when a run needs its slot.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from appliance.displays.slot import Slot
from appliance.errors import DatabaseUnavailable, NotFound
from appliance.events import Notice
from appliance.feed.writer import write_event
from appliance.persistence.database import Transaction
from appliance.persistence.sessions import SessionChanges, change_session, find_session
from appliance.runtime.equipment import Equipment
from appliance.runtime.held import HeldBrowser
from appliance.runtime.stubborn import submit_stubbornly
from appliance.words import Lifecycle, SessionStatus

if TYPE_CHECKING:
    from appliance.agent.memory import Memory

_AFTERWARDS = "a new task starts another one, with the conversation so far."

log = structlog.get_logger()


@dataclass(eq=False)
class Parked:
    """A browser that waits for its session's next task, with what the agent remembers."""

    session_id: UUID
    run_id: UUID
    held: HeldBrowser
    memory: "Memory | None" = None
    watch: "asyncio.Task[None] | None" = None


@dataclass(frozen=True)
class _Release:
    """Why a browser is let go, as the feed tells it, and what an idle session is afterwards."""

    code: str
    text: str
    status: SessionStatus = SessionStatus.IDLE
    is_trouble: bool = False


_GAVE_WAY = _Release("gave_way", f"The browser was closed to make room for another run; {_AFTERWARDS}")
_SHUT_DOWN = _Release("server_ended", f"The server was stopped and closed the browser; {_AFTERWARDS}")
_UNWATCHED = _Release(
    "parked_browser_lost",
    f"The browser could not be kept any longer by a fault of the server; {_AFTERWARDS}",
    is_trouble=True,
)


class Parking:
    """Holds parked browsers, oldest first. `wake` is called whenever one was added or has given its slot back."""

    def __init__(self, equipment: Equipment, wake: Callable[[], None]) -> None:
        self._equipment = equipment
        self._wake = wake
        self._idle_seconds = equipment.settings.keep_alive_idle_timeout
        self._parked: dict[UUID, Parked] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def leaving(self) -> int:
        """How many slots are about to become free."""
        return len(self._leaving)

    @property
    def resting(self) -> int:
        """How many browsers are parked."""
        return len(self._parked)

    def find_slot(self, session_id: UUID) -> Slot | None:
        """Return the slot on which the session's browser is parked, or None."""
        parked = self._parked.get(session_id)
        return None if parked is None else parked.held.slot

    def park(self, session_id: UUID, run_id: UUID, held: HeldBrowser, memory: "Memory | None" = None) -> None:
        """Keep the browser for the session's next task; it belongs to the parking from now on."""
        self._keep(Parked(session_id, run_id, held, memory))
        self._wake()

    def put_back(self, parked: Parked) -> None:
        """Keep a browser again that was taken and not worked in; wakes nobody, since no slot was won or lost."""
        self._keep(replace(parked, watch=None))

    def _keep(self, parked: Parked) -> None:
        parked.held.rest()
        self._parked[parked.session_id] = parked
        if self._is_closed:
            self._let_go(parked, _SHUT_DOWN)
        else:
            parked.watch = asyncio.create_task(self._watch(parked), name=f"parked {parked.session_id}")

    def take(self, session_id: UUID) -> Parked | None:
        """Return the session's parked browser, which belongs to the caller from then on."""
        parked = self._parked.pop(session_id, None)
        if parked is not None and parked.watch is not None:
            parked.watch.cancel()
        return parked

    def release_oldest(self) -> bool:
        """Let the browser that was parked first give way; returns whether there was one."""
        parked = next(iter(self._parked.values()), None)
        if parked is not None:
            self._let_go(parked, _GAVE_WAY)
        return parked is not None

    def release(self, session_id: UUID) -> bool:
        """Close the session's browser, of which the feed is told nothing; returns whether it was parked."""
        parked = self._parked.get(session_id)
        if parked is not None:
            self._let_go(parked, None)
        return parked is not None

    async def close(self) -> None:
        """Close every browser and return when they are gone; what is parked later is closed at once."""
        self._is_closed = True
        for parked in tuple(self._parked.values()):
            self._let_go(parked, _SHUT_DOWN)
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _watch(self, parked: Parked) -> None:
        """Let the browser go when it dies or nobody has come for it in time, or when it cannot be watched."""
        try:
            release = await self._wait_for_end(parked)
        except Exception:
            # Nobody would ever free its slot.
            log.exception("a parked browser could not be watched", session=str(parked.session_id))
            release = _UNWATCHED
        self._let_go(parked, release)

    async def _wait_for_end(self, parked: Parked) -> _Release:
        try:
            async with asyncio.timeout(self._idle_seconds or None):
                await parked.held.browser.lost.wait()
        except TimeoutError:
            text = f"Nobody gave a task for {self._idle_seconds:g} s, so the browser was closed; {_AFTERWARDS}"
            return _Release("idle_timeout", text, SessionStatus.STOPPED)
        text = f"{await parked.held.explain_loss()} while it waited for a task; {_AFTERWARDS}"
        return _Release("parked_browser_lost", text, is_trouble=True)

    def _let_go(self, parked: Parked, release: _Release | None) -> None:
        """Begin to close the browser, unless somebody else has it by now."""
        if self._parked.get(parked.session_id) is not parked:
            return
        del self._parked[parked.session_id]
        if parked.watch is not None and parked.watch is not asyncio.current_task():
            parked.watch.cancel()
        leaving = asyncio.create_task(self._close(parked, release), name=f"leaving {parked.session_id}")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._left)

    def _left(self, leaving: "asyncio.Task[None]") -> None:
        self._leaving.discard(leaving)
        if not leaving.cancelled() and (fault := leaving.exception()) is not None:
            log.error("a parked browser did not come to a clean end", exc_info=fault)
        self._wake()

    async def _close(self, parked: Parked, release: _Release | None) -> None:
        told = asyncio.create_task(self._tell(parked, release))
        try:
            await parked.held.settle_profile(parked.session_id, parked.run_id)
        finally:
            try:
                await parked.held.close()
            finally:
                await told

    async def _tell(self, parked: Parked, release: _Release | None) -> None:
        """Write down that the session's browser is gone, and signal it."""

        async def write(transaction: Transaction) -> None:
            session = await find_session(transaction, parked.session_id)
            changes = SessionChanges()
            if session.lifecycle is Lifecycle.PARKED:
                changes["lifecycle"] = None
            if release is not None and session.status is SessionStatus.IDLE:
                changes["status"] = release.status
            if release is None:
                await change_session(transaction, parked.session_id, **changes)
                return
            notice = Notice(code=release.code, text=release.text, is_trouble=release.is_trouble)
            await write_event(transaction, parked.session_id, parked.run_id, notice, changes)

        try:
            await submit_stubbornly(self._equipment.database, write, "that a browser is not parked any more")
        except NotFound:
            log.info("a browser was parked for a session that is deleted", session=str(parked.session_id))
        except DatabaseUnavailable as error:
            log.error("a session still counts as parked", session=str(parked.session_id), reason=error.message)
        self._equipment.hub.signal(parked.session_id)
        log.info("a parked browser is let go", session=str(parked.session_id), why=release and release.code)
