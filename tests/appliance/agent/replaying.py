"""A recorded run done again on the page of another day, with everything that this leaves behind."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.agent.assignment import Assignment
from appliance.agent.finding import Pace
from appliance.agent.fund import Fund
from appliance.agent.outcome import Outcome
from appliance.agent.outlets import Outlets
from appliance.agent.record import Record, Replayed
from appliance.agent.recorded import RecordedRun, load
from appliance.agent.replay import Original, Replay
from appliance.browser.connection import Browser
from appliance.browser.observation import Screenshot
from appliance.captcha.solving import Captchas
from appliance.events import Charge, FeedEvent, TokenCount
from appliance.models.autopilot import Autopilot
from appliance.pause import Pause
from appliance.sensitive import SensitiveData
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.scratchpad import Scratchpad
from tests.site import Site

QUICK = Pace(patience=4.0, pauses=(0.1, 0.1, 0.1))


@dataclass
class Replaying:
    """One replay with everything it leaves behind."""

    outcome: Outcome
    record: RecordedRun
    events: list[FeedEvent] = field(default_factory=list)

    @property
    def report(self) -> Replayed:
        assert self.record.replayed is not None
        return self.record.replayed

    @property
    def levels(self) -> list[str]:
        return [action.level for action in self.report.actions if action.level]


class Stage:
    """The page of another day, and a recorded run that is done again on it."""

    def __init__(self, browser: Browser, site: Site, folder: Path) -> None:
        self.browser = browser
        self.site = site
        self.folder = folder / "again"
        self.folder.mkdir()

    async def today(self, words: str) -> None:
        """Make the shop's page another one from the next load on."""
        await self.browser.tab.navigate(self.site.url("/replay_shop.html"))
        await self.browser.tab.evaluate(f"localStorage.setItem('replay', {words!r}), 0")
        old = await self.browser.list_tabs()
        await self.browser.open_tab("about:blank")
        for tab in old:
            await self.browser.close_tab(tab.tab_id)

    async def again(
        self,
        run: RecordedRun,
        model: Any = None,
        *,
        with_model: bool = False,
        secrets: SensitiveData | None = None,
        tell: Callable[[FeedEvent], None] | None = None,
        captchas: Captchas | None = None,
        sandbox: Sandbox | None = None,
        pause: Pause | None = None,
        fund: Fund | None = None,
        **values: Any,
    ) -> Replaying:
        events: list[FeedEvent] = []

        async def emit(event: FeedEvent, charges: tuple[Charge, ...] = ()) -> None:
            events.append(event)
            if tell is not None:
                tell(event)

        async def keep(step: int, screenshot: Screenshot) -> str:
            (self.folder / f"{step}.jpg").write_bytes(screenshot.data)
            return f"{step}.jpg"

        def price(tokens: TokenCount) -> Decimal:
            return Decimal(tokens.input)

        task = Assignment(run.opened.task, run.opened.output_schema, replays="a run", **values)
        context = ActionContext(
            self.browser, Scratchpad(self.folder / "pad"), model or Autopilot(), task.task, task.output_schema
        )
        context.sensitive = secrets or SensitiveData()
        context.captchas = captchas
        context.sandbox = sandbox
        context.pause = pause or Pause()
        outlets = Outlets(emit, keep, price, Record(self.folder / "history.json"), fund=fund)
        replay = Replay(Original(run, with_model, QUICK), task, context, Registry.for_context(context), outlets)
        async with asyncio.timeout(60):
            outcome = await replay.run()
        return Replaying(outcome, load(self.folder / "history.json")[-1], events)

    async def log(self) -> str:
        return str(await self.browser.tab.evaluate("document.getElementById('log').textContent"))

    async def log_in_the_end(self) -> str:
        """Return the log once there is something in it: frames of other sites tell the page when they get to it."""
        async with asyncio.timeout(20):
            while not (log := await self.log()):  # noqa: ASYNC110 - the page rings no bell
                await asyncio.sleep(0.05)
        return log
