"""What can be done with sessions: made, continued, looked at, stopped, deleted. Every change is committed before the
answer, and no answer waits for a browser."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from appliance.errors import Conflict, MachineFault, NotFound
from appliance.events import Notice, RunFinished, TaskGiven
from appliance.feed.hub import Hub
from appliance.feed.writer import write_event
from appliance.models.providers import find_model
from appliance.persistence import events as event_rows
from appliance.persistence import runs as run_rows
from appliance.persistence import sessions as session_rows
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.profiles import find_profile
from appliance.persistence.records import EventPage, Payer, RunRecord, SessionPage, SessionRecord
from appliance.persistence.sessions import SessionChanges
from appliance.persistence.teams import choose_payer
from appliance.persistence.workspaces import find_workspace
from appliance.runtime.allowance import top_up
from appliance.runtime.choices import ModelRules, choose, make_title, read_secrets
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.sealing import Seal
from appliance.runtime.treasury import check_caps
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, Lifecycle, RunStatus, SessionStatus, StopStrategy

_STOP_TRIES = 3
_BLANK_RESULT: SessionChanges = {
    "output": None,
    "is_successful": None,
    "failure": None,
    "failure_status_code": None,
    "last_step_summary": None,
}


class Sessions:
    """The use cases. Unknown and deleted ids raise NotFound everywhere."""

    def __init__(self, database: Database, hub: Hub, dispatcher: Dispatcher, rules: ModelRules, seal: Seal) -> None:
        self._database = database
        self._hub = hub
        self._dispatcher = dispatcher
        self._rules = rules
        self._seal = seal

    async def create(self, wish: SessionWish) -> SessionRecord:
        """Make a session, with a first run if there is a task, or give an existing one its next task.

        Raises RequestInvalid naming the field that is wrong, CapReached when who pays has nothing left to spend, and
        Conflict for a session that is busy or has ended.
        """
        if wish.session_id is not None:
            return await self._continue(wish.session_id, wish)
        wish, chosen = await self._choose(wish, None)
        await check_caps(self._database, wish.payer, find_model(chosen.get("model", ""), self._rules.keys))
        changes: dict[str, Any] = {**chosen, "allowance_usd": chosen.get("max_cost_usd")}
        now = utc_now()
        blank = SessionRecord(
            id=new_id(), status=SessionStatus.CREATED, model="", wire_model="", created_at=now, updated_at=now
        )
        fresh = replace(blank, title=make_title(wish.task or ""), **changes)

        async def write(transaction: Transaction) -> None:
            payer = await choose_payer(transaction, wish.payer)
            await _require_belongings(transaction, wish, payer)
            await session_rows.add_session(transaction, replace(fresh, team_id=payer.team_id))
            if wish.task is not None:
                await _queue_run(transaction, fresh.id, wish, fresh.model, payer)

        await self._database.writer.submit(write)
        return await self._announce(fresh.id)

    async def find(self, session_id: UUID) -> SessionRecord:
        """Return the session as it is now."""
        return await self._database.read_kept(
            ("session", session_id), lambda transaction: session_rows.find_session(transaction, session_id)
        )

    async def list_page(self, page: int = 1, page_size: int = 20, team_id: UUID | None = None) -> SessionPage:
        """Return one page of the sessions, newest first, of one team or of all; a page past the end is empty."""
        async with self._database.read() as transaction:
            return await session_rows.list_sessions(transaction, page=page, page_size=page_size, team_id=team_id)

    async def list_runs(self, session_id: UUID) -> tuple[RunRecord, ...]:
        """Return the session's runs, oldest first."""
        async with self._database.read() as transaction:
            await session_rows.find_session(transaction, session_id)
            return await run_rows.list_runs(transaction, session_id)

    async def find_provenance(self, session_id: UUID) -> dict[str, dict[str, Any]] | None:
        """Return where each value of the latest run's answer was read, by JSON pointer; None where it is not known."""
        async with self._database.read() as transaction:
            await session_rows.find_session(transaction, session_id)
            latest = await run_rows.find_latest_run(transaction, session_id)
            return None if latest is None else await run_rows.find_provenance(transaction, latest.id)

    async def list_provenance(self, session_id: UUID) -> dict[UUID, dict[str, dict[str, Any]]]:
        """Return, for each run of the session of which it is known, where each value of its answer was read."""
        async with self._database.read() as transaction:
            await session_rows.find_session(transaction, session_id)
            return await run_rows.list_provenance(transaction, session_id)

    async def read_events(
        self, session_id: UUID, after: UUID | None = None, before: UUID | None = None, limit: int = 100
    ) -> EventPage:
        """Return a stretch of the session's feed, oldest first; its newest end without a cursor.

        Raises RequestRefused for two cursors at once, or one that is no event of this session.
        """
        async with self._database.read() as transaction:
            await session_rows.find_session(transaction, session_id)
            return await event_rows.read_events(transaction, session_id, after=after, before=before, limit=limit)

    async def stop(self, session_id: UUID, strategy: StopStrategy = StopStrategy.SESSION) -> SessionRecord:
        """End the task only (the session is then idle) or the whole session; returns the session as it is then.

        A run that works is told to end and settled before the answer; its browser may take a moment longer. Stopping
        what has ended already changes nothing.
        """

        for _ in range(_STOP_TRIES):
            await self._dispatcher.stop(session_id, strategy)
            # What a worker takes up from now on is written after this.
            is_held = self._dispatcher.is_at_work(session_id)
            write = partial(_stop_idle, session_id=session_id, strategy=strategy, is_held=is_held)
            if await self._database.writer.submit(write):
                break
        if strategy is StopStrategy.SESSION:
            # Of a run that came to its end in between, the browser was parked after the first time.
            await self._dispatcher.stop(session_id, strategy)
        return await self._announce(session_id)

    async def pause(self, session_id: UUID) -> SessionRecord:
        """Let the session's run stand still, until it is resumed or stopped; returns the session as it is then.

        Pausing what is paused changes nothing. Raises Conflict when nothing is at work.
        """
        if not await self._dispatcher.pause(session_id):
            found = await self.find(session_id)
            why = "its task waits for a free slot" if found.queue_position is not None else "no task is at work in it"
            raise Conflict(f"The session cannot be paused: {why}. Pause it while its status is running.")
        return await self.find(session_id)

    async def resume(self, session_id: UUID) -> SessionRecord:
        """Let the session's run go on; returns the session as it is then. Raises Conflict when it is not paused."""
        if not await self._dispatcher.resume(session_id):
            await self.find(session_id)
            raise Conflict("The session is not paused, so there is nothing to resume.")
        return await self.find(session_id)

    async def delete(self, session_id: UUID) -> None:
        """Stop the session and hide it; its files and rows stay."""
        await self.stop(session_id, StopStrategy.SESSION)

        async def write(transaction: Transaction) -> None:
            await session_rows.delete_session(transaction, session_id)

        await self._database.writer.submit(write)
        self._hub.signal(session_id)

    async def _continue(self, session_id: UUID, wish: SessionWish) -> SessionRecord:
        current = await self.find(session_id)
        if wish.payer is not None and current.team_id not in (None, wish.payer.team_id):
            raise NotFound("Session not found")
        wish, changes = await self._choose(wish, current)
        payer = wish.payer or (Payer(current.team_id) if current.team_id else None)
        await check_caps(self._database, payer, find_model(changes.get("model", current.model), self._rules.keys))

        async def write(transaction: Transaction) -> None:
            session = await session_rows.find_session(transaction, session_id)
            is_first = await _require_free(transaction, session) is None
            paying = await choose_payer(transaction, payer)
            await _require_belongings(transaction, wish, paying)
            title = {} if session.title else {"title": make_title(wish.task or "")}
            money = top_up(session, changes, is_first=is_first)
            updates: dict[str, Any] = {**_BLANK_RESULT, **changes, **title, **money}
            await session_rows.change_session(transaction, session_id, status=SessionStatus.CREATED, **updates)
            await _queue_run(transaction, session_id, wish, changes.get("model", session.model), paying)

        await self._database.writer.submit(write)
        return await self._announce(session_id)

    async def _choose(self, wish: SessionWish, current: SessionRecord | None) -> tuple[SessionWish, SessionChanges]:
        """Return what the wish changes by the prices that count now; its schema is read in a thread."""
        if self._rules.prices is not None:
            await self._rules.prices.refresh()
        return await asyncio.to_thread(self._choose_now, wish, current)

    def _choose_now(self, wish: SessionWish, current: SessionRecord | None) -> tuple[SessionWish, SessionChanges]:
        """Return what the wish changes, its secrets sealed, and the wish with none of them in its task."""
        changes = choose(wish, self._rules, current)
        allowed = changes.get("allowed_domains", current.allowed_domains if current else ())
        if wish.sensitive_data is not None:
            secrets = read_secrets(wish.sensitive_data, allowed)
            changes["sensitive_data"] = self._seal.close(dict(wish.sensitive_data)) if secrets else None
        elif current is not None and current.sensitive_data is not None:
            secrets = read_secrets(self._open(current.sensitive_data), allowed)
        else:
            return wish, changes
        return replace(wish, task=secrets.redact(wish.task) if wish.task else wish.task), changes

    def _open(self, sealed: str) -> dict[str, Any]:
        try:
            return self._seal.open(sealed)
        except MachineFault as fault:
            raise Conflict(fault.message) from fault

    async def _announce(self, session_id: UUID) -> SessionRecord:
        """Wake the dispatcher and the readers, and return the session as it is now."""
        self._dispatcher.wake()
        self._hub.signal(session_id)
        return await self.find(session_id)


async def _queue_run(transaction: Transaction, session_id: UUID, wish: SessionWish, model: str, payer: Payer) -> None:
    """Write a waiting run with its first feed entries."""
    run = await run_rows.add_run(transaction, session_id, task=wish.task or "", model=model, payer=payer)
    for warning in wish.warnings:
        notice = Notice(code=warning.code, text=f"{warning.field}: {warning.message}")
        await write_event(transaction, session_id, run.id, notice)
    await write_event(transaction, session_id, run.id, TaskGiven(task=run.task, model=model))


async def _require_belongings(transaction: Transaction, wish: SessionWish, payer: Payer) -> None:
    """Raise NotFound for a workspace or profile that is not there or is another team's."""
    if wish.workspace_id is not None:
        await find_workspace(transaction, wish.workspace_id, payer.team_id)
    if wish.profile_id is not None:
        await find_profile(transaction, wish.profile_id, payer.team_id)


async def _require_free(transaction: Transaction, session: SessionRecord) -> RunRecord | None:
    """Return the session's latest run, if any; raises Conflict unless it can take a task now."""
    if not session.takes_tasks:
        state = session.lifecycle or session.status
        raise Conflict(f"The session has ended ({state}) and takes no more tasks; make a new one.")
    latest = await run_rows.find_latest_run(transaction, session.id)
    if latest is not None and latest.status is not RunStatus.ENDED:
        raise Conflict("The session is busy with a task; wait until it ends, or stop it with strategy task.")
    return latest


async def _stop_idle(transaction: Transaction, session_id: UUID, strategy: StopStrategy, *, is_held: bool) -> bool:
    """Stop a session in which nothing works: end its waiting run, if any, and set its state.

    Returns False when a worker has taken the run up meanwhile. One that claims to run though no worker has it
    (`is_held`) is ended, too.
    """
    session = await session_rows.find_session(transaction, session_id)
    is_closed = session.is_closed or strategy is StopStrategy.SESSION
    if session.status.is_final:
        if is_closed != session.is_closed:
            await session_rows.change_session(transaction, session_id, is_closed=True)
        return True
    closing = SessionChanges(is_closed=is_closed)
    latest = await run_rows.find_latest_run(transaction, session_id)
    is_running = latest is not None and latest.status is RunStatus.RUNNING
    if is_running and is_held:
        return False
    closing["status"] = SessionStatus.IDLE if strategy is StopStrategy.TASK else SessionStatus.STOPPED
    if session.lifecycle is not Lifecycle.PARKED or strategy is StopStrategy.SESSION:
        closing["lifecycle"] = None
    if latest is None or latest.status is RunStatus.ENDED:
        await session_rows.change_session(transaction, session_id, **closing)
        return True
    await run_rows.change_run(
        transaction, latest.id, status=RunStatus.ENDED, ended_at=utc_now(), ending=Ending.STOPPED, is_successful=False
    )
    summary = "Stopped; nobody was at work on it." if is_running else "Stopped while it waited for a free slot."
    finished = RunFinished(ending=Ending.STOPPED, is_successful=False, summary=summary)
    closing.update(is_successful=False, last_step_summary=summary)
    await write_event(transaction, session_id, latest.id, finished, closing)
    return True
