"""The agent: observe, ask, act, until an ending is raised.

Everything that ends a run is an exception: the answer, a spent limit, a provider fault, a lost browser. A stop is the
cancellation of `run`; what was produced until then is told by `outcome_so_far`.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import structlog

from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.agent.archive import Archive
from appliance.agent.asking import Asking
from appliance.agent.assignment import Assignment
from appliance.agent.briefing import Briefing
from appliance.agent.budget import Budget
from appliance.agent.chain import Chain
from appliance.agent.clocks import Clocks, StepClock
from appliance.agent.compaction import Compactor, ContextLimit
from appliance.agent.ending import ending_of
from appliance.agent.fund import Funding
from appliance.agent.goal import state_goal
from appliance.agent.memory import Memory, tell_answer
from appliance.agent.metering import MeteredModel
from appliance.agent.outcome import Leftovers, Outcome, kept, settle
from appliance.agent.outlets import Outlets
from appliance.agent.progress import Progress
from appliance.agent.retries import RetryingModel
from appliance.agent.reviewer import Reviewer
from appliance.agent.rounds import Rounds
from appliance.agent.sight import Sight
from appliance.agent.step import Step
from appliance.agent.window import Window, text_of
from appliance.errors import (
    ContextOverflow,
    MachineFault,
    PilothouseError,
    RunDone,
    RunEnding,
    RunFailed,
    RunStopped,
)
from appliance.events import Charge
from appliance.models.addresses import find_address
from appliance.models.base import ModelRequest
from appliance.store.answers import AnswerStore
from appliance.words import FailureKind

log = structlog.get_logger()

_ON_ITS_WAY = 0.05
"""Seconds after which a request has left, in which no model answers."""


class Agent:
    """Works on one assignment with one browser; to be run once. With a `memory` it goes on where another agent was."""

    def __init__(
        self,
        assignment: Assignment,
        context: ActionContext,
        registry: Registry,
        outlets: Outlets,
        clocks: Clocks | None = None,
        memory: Memory | None = None,
    ) -> None:
        context = memory.taken_up(context) if memory else context
        self._assignment = assignment
        self._sensitive = context.sensitive
        self._outlets = outlets = outlets.without(context.sensitive)
        context.browser.hide(lambda: context.sensitive.values, context.sensitive.is_in)
        self._clocks = clocks or Clocks()
        self._pause = context.pause
        self._budget = Budget(
            assignment,
            outlets.price,
            context.pause,
            model=context.model.name,
            price_version=outlets.price_version,
        )
        self._funding = Funding(outlets.fund, self._budget, context.pause)
        lost = context.browser.lost
        self._metered = MeteredModel(context.model, self._budget, lost, context.sensitive, context.pause, self._funding)
        self._model = RetryingModel(self._metered, self._clocks, self._budget.seconds_left, lost, outlets.notice)
        budget = self._budget
        self._context = context = replace(
            context, model=self._model, tell=outlets.notice, purse=budget, affords=budget.affords
        )
        self._progress = Progress()
        limit = ContextLimit(self._model.context_window, self._model.compacts_itself)
        past = memory.past if memory else None
        archive = (past and past.archive) or Archive(context.scratchpad.root)
        archive.redact = context.sensitive.redact
        today = datetime.now(UTC).date()
        self._window = Window(assignment, registry, today, archive=archive, limit=limit, past=past)
        compactor = Compactor(self._model, limit)
        self._briefing = Briefing(assignment, context, self._window, compactor, self._progress, outlets)
        self._sight = Sight(context, registry, outlets, self._window.room_for_page)
        self._asking = Asking(self._model, context, registry, outlets)
        self._chain = Chain(context, registry, self._progress, self._budget, outlets)
        self._rounds = Rounds(Reviewer(self._metered, assignment), assignment, self._budget, outlets)
        self._rounds.know(past.told if past else ())
        self._ending: RunEnding | None = None
        self._interruption: RunEnding | None = None
        self._step = Step(0)

    async def run(self) -> Outcome:
        """Work until the run ends and return its outcome; of our own errors none comes out of here.

        Raises asyncio.CancelledError when it is stopped.
        """
        clock = self._pause.timeout(self._assignment.timeout)
        try:
            self._outlets.run_opened(self._assignment, self._model.name)
            self._budget.start()
            async with clock:
                while True:
                    await self._take_step()
        except (PilothouseError, TimeoutError) as fault:
            self._ending = self._answer or ending_of(fault, self._assignment, is_late=clock.expired())
            await self._rounds.close()
            if self._context.store is not None:
                await self._context.store.trace()
        except asyncio.CancelledError:
            await self._rounds.close()
            raise
        except Exception as fault:
            self._ending = ending_of(fault, self._assignment)
            raise
        finally:
            self._close_record()
        await self._outlets.last_told(self._step)
        return self.outcome_so_far()

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Everything the run was charged so far, told to the feed or not."""
        return self._budget.charges

    @property
    def standing(self) -> Decimal | None:
        """The US dollars that a run has spent which stands still; None while it goes on and may cost more."""
        return self._metered.standing

    def interrupt(self, ending: RunEnding) -> None:
        """Take note of how the run ends when it is cancelled next; one that has ended by itself keeps its ending."""
        self._interruption = ending

    def outcome_so_far(self) -> Outcome:
        """Return the outcome of the run as it stands; one that has not ended counts as interrupted, else as stopped."""
        ending = self._ending or self._interruption or RunStopped("The run was stopped.")
        note = self._step.plan.see if self._step.plan else ""
        left = None if self._answer else Leftovers(self._context.store, self._context.partial)
        outcome = settle(ending, self._budget.spent, note=note, limit=self._budget.limit, leftovers=left)
        if self._answer is not None and not isinstance(ending, RunDone):
            outcome = kept(outcome, self._answer)
        return self._sensitive.redact_all(outcome)

    @property
    def memory(self) -> Memory:
        """What the next run of the session may go on with; to be asked for once, when this one is over."""
        context = self._context
        past = self._window.past(self._step, tell_answer(self.outcome_so_far(), context.scratchpad))
        return Memory(past, context.evidence, context.links, context.guard, context.watch)

    @property
    def _answer(self) -> RunDone | None:
        """The last answer that was accepted; it stands whatever happens while it is reviewed."""
        return self._step.answer or self._rounds.answer

    def _close_record(self) -> None:
        try:
            self._outlets.run_closed(self.outcome_so_far())
        except MachineFault as fault:
            log.error("the end of the run could not be recorded", reason=fault.message)

    async def _take_step(self) -> None:
        await self._pause.wait()
        await self._funding.before_step()
        allowance, before = self._budget.next_step(), self._step
        self._step = step = Step(allowance.number, allowance.limit)
        clock = StepClock(self._clocks.step, allowance.seconds, self._pause)
        with self._outlets.closing(step, "The run has ended."):
            try:
                async with clock:
                    await self._look(before)
                    await self._ask(clock)
                    await self._chain.run(step, clock)
            except TimeoutError:
                if not clock.is_over:
                    raise
                step.trouble = "The step was cut off, since its time was used up."
        await self._outlets.actions_finished(step)
        await self._pause.wait()
        demand = await self._rounds.go_on(step, self._context.store)
        if step.answer is not None and demand is None:
            raise step.answer
        self._briefing.demand = demand or self._briefing.demand
        if step.trouble:
            await self._outlets.notice("step_cut_off", step.trouble)
        self._window.remember(step)
        await self._judge(step)

    async def _look(self, before: Step) -> None:
        """Look at the page; at the start of the run the goal is stated meanwhile."""
        stating = asyncio.create_task(self._state_goal()) if self._step.number == 1 else None
        try:
            await self._sight.look(self._step, before)
            self._context.step, self._context.screenshot = self._step.number, self._step.screenshot
            self._context.is_delivery = self._step.limit is not None
            if stating is not None:
                await stating
        finally:
            if stating is not None:
                stating.cancel()
                await asyncio.gather(stating, return_exceptions=True)  # a call that is given up is charged by then

    async def _state_goal(self) -> None:
        """Have the goal stated in one cheap call, pin it, and remember it with the task's first address."""
        task = self._assignment.task
        if address := find_address(task):
            self._context.clipboard.seed("startUrl", address)
            await self._outlets.notice("start_url", f"{address} is where the task begins.")
        goal = await state_goal(self._metered, task)
        self._window.pin_goal(goal)
        self._rounds.goal = goal
        self._context.clipboard.seed("goal", goal)
        await self._outlets.goal_stated(goal, self._budget.take_charges())

    async def _ask(self, clock: StepClock) -> None:
        """Ask what to do and tell the feed of the plan; a request that is too long is sent once more, shorter."""
        step = self._step
        request = await self._briefing.request(step, self._clocks)
        try:
            await self._send(request, clock)
        except ContextOverflow:
            await self._send(await self._briefing.shortened(step, self._clocks), clock)

    async def _send(self, request: ModelRequest, clock: StepClock) -> None:
        step = self._step
        self._outlets.step_asked(step, text_of(request))
        async with self._tracing():
            reply = await self._asking.ask(step, request, clock)
        self._briefing.note(reply)
        step.planning = self._budget.take_charges()
        await self._outlets.step_planned(step, reply)

    @asynccontextmanager
    async def _tracing(self) -> AsyncGenerator[None]:
        """Find out meanwhile where the values of the answer were read: no ending, whenever it comes, waits for it."""
        store = self._context.store
        tracing = asyncio.create_task(_trace_later(store)) if store is not None else None
        try:
            yield
        finally:
            if tracing is not None:
                tracing.cancel()
                await asyncio.gather(tracing, return_exceptions=True)

    async def _judge(self, step: Step) -> None:
        """Look whether the run gets anywhere, and have the answer handed in when it does not."""
        before = self._progress.count
        self._progress.note(step)
        count = self._progress.count
        if self._progress.is_hopeless:
            text = f"The agent got no further in {count} tries."
            self._budget.call_for_answer(RunFailed(text, failure=FailureKind.AGENT_FAILURE))
        elif self._progress.must_replan and count > before:
            await self._outlets.notice("replanning", f"{count} tries came to nothing: the agent must do otherwise.")
        elif self._progress.is_stuck and count > before:
            await self._outlets.notice("repeating", f"The agent got no further in {count} tries and is told so.")


async def _trace_later(store: AnswerStore) -> None:
    """Trace the store's values once the request is on its way, which they would hold up."""
    await asyncio.sleep(_ON_ITS_WAY)
    await store.trace()
