"""Assembles the agent of a run: its actions, model, scratchpad and outlets.

A module of its own, since it loads what an idle server does not need; the worker imports it beside the browser's start.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from itertools import count

import structlog

from appliance.actions.base import ActionContext
from appliance.actions.pressure import Pressure
from appliance.actions.registry import Registry
from appliance.agent.assignment import Assignment, EarlierTurn
from appliance.agent.loop import Agent
from appliance.agent.memory import Memory
from appliance.agent.outlets import Outlets
from appliance.agent.record import Record
from appliance.agent.recorded import load
from appliance.agent.replay import Original, Replay
from appliance.browser.connection import Browser
from appliance.browser.observation import Screenshot
from appliance.captcha.capsolver import CapSolver
from appliance.captcha.solving import Captchas
from appliance.errors import MachineFault
from appliance.events import TokenCount
from appliance.models.base import Model
from appliance.models.catalog import ModelEntry
from appliance.pause import Pause
from appliance.persistence.records import ReplaySource, RunRecord, SessionRecord
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import SessionFolders
from appliance.runtime.price_list import PriceList
from appliance.runtime.settling import Tally
from appliance.sensitive import SensitiveData
from appliance.settings import Settings
from appliance.workspaces.scratchpad import Scratchpad
from appliance.workspaces.workspace import Workspace

DEFAULT_STEPS = 100
DEFAULT_SECONDS = 1800.0
MOST_PAGE_PICTURES = 500

log = structlog.get_logger()


def assign(
    session: SessionRecord, run: RunRecord, earlier: tuple[RunRecord, ...], *, is_reviewed: bool = True
) -> Assignment:
    """Return what the run is asked to do: the task, what is left of the session's money, the turns before it.

    `is_reviewed` says whether its answer is checked.
    """
    left = None
    if session.max_cost_usd is not None:
        left = max(Decimal(0), session.max_cost_usd - session.cost_usd)
    return Assignment(
        task=run.task,
        output_schema=session.output_schema,
        max_steps=session.max_steps or DEFAULT_STEPS,
        timeout=session.timeout or DEFAULT_SECONDS,
        max_cost_usd=left,
        effort=session.effort,
        system_prompt_extension=session.system_prompt_extension,
        earlier=tuple(EarlierTurn(turn.task, _answer(turn)) for turn in earlier),
        run=str(run.id),
        replays=None if run.replays is None else str(run.replays.run_id),
        is_reviewed=is_reviewed,
        keeps_logins=session.profile_id is not None,
    )


def assemble(assignment: Assignment, context: ActionContext, outlets: Outlets, memory: Memory | None = None) -> Agent:
    """Return the agent, ready to run; with the memory of the one before it goes on where that was."""
    return Agent(assignment, context, Registry.for_context(context), outlets, memory=memory)


def assemble_replay(
    source: ReplaySource, folders: SessionFolders, assignment: Assignment, context: ActionContext, outlets: Outlets
) -> Replay:
    """Return the replay of a run that was recorded in the folders, ready to run; raises MachineFault without record."""
    try:
        runs = [run for run in load(folders.record) if run.opened.run == str(source.run_id)]
    except (OSError, ValueError) as error:
        raise MachineFault(f"The record to be replayed cannot be read ({error}).") from error
    if not runs:
        raise MachineFault("The record to be replayed is gone; give the task again instead.")
    original = Original(runs[-1], source.with_model)
    return Replay(original, assignment, context, Registry.for_context(context), outlets)


def make_context(
    assignment: Assignment,
    browser: Browser,
    model: Model,
    folders: SessionFolders,
    sensitive: SensitiveData,
    workspace: Workspace | None,
) -> ActionContext:
    """Return what the actions of a run work with."""
    return ActionContext(
        browser=browser,
        scratchpad=Scratchpad(folders.scratchpad),
        model=model,
        task=assignment.task,
        output_schema=assignment.output_schema,
        effort=assignment.effort,
        sensitive=sensitive,
        workspace=workspace,
    )


def make_keeper(run: RunRecord, folders: SessionFolders) -> Callable[[Screenshot], Awaitable[str | None]]:
    """Return what keeps the pictures of pages read in bulk beside those of the steps, and names them.

    A picture more is no reason to end a run: without room, and beyond the first hundreds, there is none.
    """
    numbers = count(1)

    async def keep_picture(screenshot: Screenshot) -> str | None:
        number = next(numbers)
        if number > MOST_PAGE_PICTURES:
            return None
        name = f"{run.number:03}-page-{number:04}.jpg"
        try:
            await asyncio.to_thread((folders.screenshots / name).write_bytes, screenshot.data)
        except OSError as error:
            log.warning("the picture of a page could not be kept", name=name, reason=error.strerror)
            return None
        return name

    return keep_picture


def make_pressure(equipment: Equipment) -> Pressure:
    """Return how hard the machine is pressed, whose slots say how many sessions are at work."""
    return Pressure(sessions=lambda: equipment.pool.at_work, stall=equipment.stall)


def make_captchas(settings: Settings, pause: Pause) -> Captchas | None:
    """Return what has captchas solved in one run, which may be paused; None when there is no account for it."""
    key = settings.capsolver_api_key
    if key is None or not key.get_secret_value():
        return None
    solver = CapSolver(key.get_secret_value(), settings.capsolver_base_url, pause=pause)
    return Captchas(solver, settings.captcha_max_cost_usd)


def make_outlets(
    run: RunRecord, entry: ModelEntry, folders: SessionFolders, tally: Tally, prices: PriceList
) -> Outlets:
    """Return the outlets of a run: the feed, its screenshots and its record among the session's files."""

    async def keep_screenshot(step: int, screenshot: Screenshot) -> str:
        suffix = "jpg" if screenshot.media_type == "image/jpeg" else screenshot.media_type.rpartition("/")[2]
        name = f"{run.number:03}-{step:04}.{suffix}"
        try:
            await asyncio.to_thread((folders.screenshots / name).write_bytes, screenshot.data)
        except OSError as error:
            raise MachineFault(f"The picture of a step cannot be kept ({error.strerror}); make room.") from error
        return name

    def price_of(tokens: TokenCount) -> Decimal | None:
        return prices.price(entry, tokens)

    return Outlets(
        emit=tally.emit,
        keep_screenshot=keep_screenshot,
        price=price_of,
        record=Record(folders.record),
        price_version=lambda: prices.version(entry),
    )


def _answer(turn: RunRecord) -> str:
    if isinstance(turn.output, str):
        return turn.output
    if turn.output is not None:
        return json.dumps(turn.output, ensure_ascii=False)
    return f"(no answer: the run ended as {turn.ending})"
