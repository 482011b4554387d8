"""Replays: a new session whose run does the recorded run of another session again."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from appliance.errors import Conflict, RequestInvalid
from appliance.events import TaskGiven
from appliance.feed.hub import Hub
from appliance.feed.writer import write_event
from appliance.models.catalog import ModelEntry, wire_name_for
from appliance.models.providers import find_model
from appliance.persistence import runs as run_rows
from appliance.persistence import sessions as session_rows
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.profiles import find_profile
from appliance.persistence.records import Payer, ReplaySource, RunRecord, SessionRecord
from appliance.persistence.teams import choose_payer
from appliance.persistence.workspaces import find_workspace
from appliance.runtime.choices import ModelRules, require_price
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.folders import SessionFolders
from appliance.runtime.treasury import check_caps
from appliance.settings import Settings
from appliance.words import RunStatus, SessionStatus

KEYLESS = "autopilot"
"""The model of a replay that asks none."""


@dataclass(frozen=True)
class ReplayWish:
    """What a caller asks for; `run` counts the session's runs from 1, by default its last one.

    A `model` is asked where the recorded run asked one beside its steps. `timeout` is in seconds. Without a `payer` the
    session's team pays.
    """

    session_id: UUID
    run: int | None = None
    model: str | None = None
    keep_alive: bool | None = None
    max_steps: int | None = None
    timeout: float | None = None
    payer: Payer | None = None


class Replays:
    """Makes sessions that do a recorded run again."""

    def __init__(self, settings: Settings, database: Database, hub: Hub, dispatcher: Dispatcher, rules: ModelRules):
        self._settings = settings
        self._database = database
        self._hub = hub
        self._dispatcher = dispatcher
        self._rules = rules

    async def create(self, wish: ReplayWish) -> SessionRecord:
        """Make the session and queue its run; returns it as it is then.

        Raises NotFound for an unknown session and for a profile or workspace of it that is gone, RequestInvalid for a
        run or model there is not and for a model without a price under the session's money limit, CapReached when who
        pays has nothing left to spend, Conflict when the run is still going on or left no record.
        """
        entry = find_model(wish.model or KEYLESS, self._rules.keys)
        async with self._database.read() as transaction:
            source = await session_rows.find_session(transaction, wish.session_id)
            runs = await run_rows.list_runs(transaction, wish.session_id)
        run = _choose_run(runs, wish.run)
        await self._require_record(run)
        payer = wish.payer or (Payer(source.team_id) if source.team_id else None)
        await check_caps(self._database, payer, entry)
        await self._require_price(entry, source)
        now = utc_now()
        fresh = replace(
            _copy(source),
            id=new_id(),
            created_at=now,
            updated_at=now,
            title=f"Replay: {source.title}" if source.title else "Replay",
            model=entry.name,
            wire_model=wire_name_for(wish.model, entry),
            keep_alive=bool(wish.keep_alive),
            max_steps=wish.max_steps or source.max_steps,
            timeout=wish.timeout or source.timeout,
        )
        origin = ReplaySource(run.session_id, run.id, with_model=wish.model is not None)

        async def write(transaction: Transaction) -> None:
            paying = await choose_payer(transaction, payer)
            if fresh.workspace_id is not None:
                await find_workspace(transaction, fresh.workspace_id, paying.team_id)
            if fresh.profile_id is not None:
                await find_profile(transaction, fresh.profile_id, paying.team_id)
            await session_rows.add_session(transaction, fresh)
            queued = await run_rows.add_run(
                transaction, fresh.id, task=run.task, model=entry.name, replays=origin, payer=paying
            )
            await write_event(transaction, fresh.id, queued.id, TaskGiven(task=run.task, model=entry.name))

        await self._database.writer.submit(write)
        self._dispatcher.wake()
        self._hub.signal(fresh.id)
        async with self._database.read() as transaction:
            return await session_rows.find_session(transaction, fresh.id)

    async def _require_price(self, entry: ModelEntry, source: SessionRecord) -> None:
        """Refuse a model that could not be kept under the money limit which the replay takes over."""
        if source.max_cost_usd is None:
            return
        if self._rules.prices is not None:
            await self._rules.prices.refresh()
        require_price(entry, self._rules, "model")

    async def _require_record(self, run: RunRecord) -> None:
        path = SessionFolders.of(self._settings, run.session_id).record
        if not await asyncio.to_thread(has_recorded, path, run.id):
            raise Conflict("This run left no record that could be replayed; give the session's task again instead.")


def has_recorded(path: Path, run_id: UUID) -> bool:
    """Whether the record at the path has this run; reads the whole file."""
    from appliance.agent.recorded import load  # noqa: PLC0415 - an idle server does without

    try:
        return any(recorded.opened.run == str(run_id) for recorded in load(path))
    except FileNotFoundError:
        return False


def _choose_run(runs: tuple[RunRecord, ...], number: int | None) -> RunRecord:
    if not runs:
        raise Conflict("The session has no run yet that could be replayed.")
    chosen = [run for run in runs if number in (None, run.number)]
    if not chosen:
        raise RequestInvalid(f"The session has no run {number}; it has runs 1 to {len(runs)}.", "body", "run")
    if chosen[-1].status is not RunStatus.ENDED:
        raise Conflict("This run has not ended yet; replay it when it has, or stop it.")
    return chosen[-1]


def _copy(source: SessionRecord) -> SessionRecord:
    """Return the session as it was wished for, without anything that has come of it."""
    return SessionRecord(
        id=source.id,
        status=SessionStatus.CREATED,
        model=source.model,
        wire_model=source.wire_model,
        created_at=source.created_at,
        updated_at=source.updated_at,
        output_schema=source.output_schema,
        max_cost_usd=source.max_cost_usd if source.allowance_usd is None else source.allowance_usd,
        allowance_usd=source.allowance_usd,
        team_id=source.team_id,
        max_steps=source.max_steps,
        timeout=source.timeout,
        screen_width=source.screen_width,
        screen_height=source.screen_height,
        allowed_domains=source.allowed_domains,
        sensitive_data=source.sensitive_data,
        workspace_id=source.workspace_id,
        profile_id=source.profile_id,
    )
