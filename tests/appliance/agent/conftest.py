import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest

from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.agent.assignment import Assignment
from appliance.agent.clocks import Clocks
from appliance.agent.loop import Agent
from appliance.agent.memory import Memory
from appliance.agent.outcome import Outcome
from appliance.agent.outlets import Outlets
from appliance.agent.record import Record
from appliance.agent.recorded import RecordedRun, load
from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.observation import Screenshot
from appliance.captcha.solving import Captchas
from appliance.events import ActionFinished, Charge, FeedEvent, Notice, StepPlanned, TokenCount
from appliance.models.base import Model
from appliance.models.catalog import find_entry
from appliance.models.providers import ProviderKeys, open_model
from appliance.pause import Pause
from appliance.sensitive import SensitiveData
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.scratchpad import Scratchpad
from tests.appliance.agent.zoo import Visit
from tests.site import Site
from tests.stand_in import Received, StandIn

E = TypeVar("E")
NAMES = {"anthropic": "claude-opus-4-7", "openai": "gpt-5.5", "compatible": "llama-3", "autopilot": "autopilot"}


@dataclass
class Work:
    """One run on a real browser, asked of the stand-in, with everything it leaves behind."""

    agent: Agent
    stand_in: StandIn
    folder: Path
    pause: Pause
    events: list[FeedEvent] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    has_event: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def keep(self, event: FeedEvent) -> None:
        self.events.append(event)
        async with self.has_event:
            self.has_event.notify_all()

    async def until(self, wanted: Callable[[FeedEvent], bool]) -> None:
        """Wait for an entry of the feed."""
        async with asyncio.timeout(30), self.has_event:
            await self.has_event.wait_for(lambda: any(map(wanted, self.events)))

    async def until_asked(self) -> None:
        """Wait until the model has been asked for a step."""
        async with asyncio.timeout(30):
            while not self.asked:  # noqa: ASYNC110  (the stand-in answers on threads of its own)
                await asyncio.sleep(0.01)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def plans(self) -> list[StepPlanned]:
        return self.of(StepPlanned)

    @property
    def receipts(self) -> list[ActionFinished]:
        return self.of(ActionFinished)

    @property
    def notices(self) -> list[str]:
        return [notice.code for notice in self.of(Notice)]

    @property
    def asked(self) -> list[Received]:
        return self.stand_in.steps

    @property
    def recorded(self) -> RecordedRun:
        return load(self.folder / "history.json")[-1]


def a_dollar_per_million(tokens: TokenCount) -> Decimal:
    return Decimal(tokens.input + tokens.cache_read + tokens.cache_write + tokens.output) / 1_000_000


Prepare = Callable[..., Work]
Finish = Callable[..., Awaitable[tuple[Outcome, Work]]]


@pytest.fixture
async def prepare(browser: Browser, tmp_path: Path) -> AsyncIterator[Prepare]:
    """Return a function that makes a run from a scenario.

    `provider` is the wire format or "autopilot", `on` another browser than the shared one, `clocks` and `registry`
    those of the agent where they are not the usual ones, `window` the compatible model's in tokens, `tell` is given
    each feed entry after it was kept, `captchas` has captchas solved, `memory` is that of an agent before, `sandbox`
    runs scripts, the rest is the assignment's.
    """
    opened: list[tuple[StandIn, Model]] = []

    def make(
        scenario: Any,
        *,
        provider: str = "anthropic",
        on: Browser | None = None,
        clocks: Clocks | None = None,
        registry: Registry | None = None,
        window: int = 0,
        sensitive: dict[str, Any] | None = None,
        tell: Callable[[FeedEvent], None] | None = None,
        captchas: Captchas | None = None,
        memory: Memory | None = None,
        sandbox: Sandbox | None = None,
        **assignment: Any,
    ) -> Work:
        stand_in = StandIn(scenario)
        model = open_model_of(stand_in, provider, window)
        opened.append((stand_in, model))
        task = Assignment(**{"task": "Do what the scenario says.", **assignment})
        context = ActionContext(
            on or browser, Scratchpad(tmp_path / "scratchpad"), model, task.task, task.output_schema
        )
        context.sensitive = SensitiveData.read(sensitive or {})
        context.captchas = captchas
        context.sandbox = sandbox

        async def emit(event: FeedEvent, charges: tuple[Charge, ...] = ()) -> None:
            work.charges += charges
            await work.keep(event)
            if tell is not None:
                tell(event)

        outlets = Outlets(emit, keep_screenshot, a_dollar_per_million, Record(tmp_path / "history.json"))
        agent = Agent(task, context, registry or Registry(), outlets, clocks, memory)
        work = Work(agent, stand_in, tmp_path, context.pause)
        return work

    async def keep_screenshot(step: int, screenshot: Screenshot) -> str:
        name = f"step-{step}.jpg"
        (tmp_path / name).write_bytes(screenshot.data)
        return name

    yield make
    for stand_in, model in opened:
        await model.close()
        await asyncio.to_thread(stand_in.close)
        assert not stand_in.problems


@pytest.fixture
async def finish(prepare: Prepare) -> Finish:
    """Return a function that makes a run and lets it work to its end."""

    async def work_to_the_end(scenario: Any, **options: Any) -> tuple[Outcome, Work]:
        work = prepare(scenario, **options)
        async with asyncio.timeout(300):
            return await work.agent.run(), work

    return work_to_the_end


def open_model_of(stand_in: StandIn, provider: str, window: int = 0) -> Model:
    keys = ProviderKeys(
        anthropic_key="sk-ant-test",
        anthropic_base_url=stand_in.anthropic_url,
        openai_key="sk-test",
        openai_base_url=stand_in.openai_url,
        compatible_base_url=stand_in.compatible_url,
        compatible_key="test",
        compatible_models=("llama-3",),
        compatible_context_window=window,
    )
    entry = find_entry(NAMES[provider], keys.compatible_models)
    assert entry is not None
    return open_model(entry, keys)


@pytest.fixture
def visit(site: Site) -> Visit:
    return Visit(site)


@pytest.fixture
async def own_chromium(display: int, tmp_path: Path) -> AsyncIterator[Chromium]:
    """A Chromium that a test may kill."""
    chromium = await Chromium.start(ChromiumOptions("", display, 0, tmp_path / "profile", width=1280, height=800))
    yield chromium
    await chromium.stop()
