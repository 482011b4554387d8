"""The agent: observe, ask, act, until an ending is raised.

Everything that ends a run is an exception: the answer, a spent limit, a provider fault, a lost browser. A stop is the
cancellation of `run`; what was produced until then is told by `outcome_so_far`.
"""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from appliance.actions.base import ActionContext, Receipt
from appliance.actions.registry import Registry
from appliance.agent import prompt
from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget, timed_out
from appliance.agent.metering import MeteredModel, is_long, lengthened
from appliance.agent.outcome import Outcome, settle
from appliance.agent.outlets import Outlets
from appliance.agent.progress import Progress
from appliance.agent.repair import MAX_REPAIRS, read_plan
from appliance.agent.step import PlannedAction, Step
from appliance.agent.window import Notes, Window, corrected, text_of
from appliance.errors import (
    ActionInvalid,
    MachineFault,
    PilothouseError,
    ReplyMalformed,
    RunDone,
    RunEnding,
    RunFailed,
    RunStopped,
)
from appliance.models.base import ModelRequest, Reply
from appliance.words import FailureKind, ReceiptStatus

log = structlog.get_logger()


class Agent:
    """Works on one assignment with one browser; to be run once."""

    def __init__(self, assignment: Assignment, context: ActionContext, registry: Registry, outlets: Outlets) -> None:
        self._assignment = assignment
        self._registry = registry
        self._outlets = outlets
        self._budget = Budget(assignment, outlets.price)
        self._model = MeteredModel(context.model, self._budget, context.browser.lost)
        self._context = replace(context, model=self._model)
        self._progress = Progress()
        self._window = Window(assignment, registry, datetime.now(UTC).date())
        self._ending: RunEnding | None = None
        self._step = Step(0)
        self._warnings: set[str] = set()

    async def run(self) -> Outcome:
        """Work until the run ends and return its outcome; of our own errors none comes out of here.

        Raises asyncio.CancelledError when it is stopped.
        """
        clock = asyncio.timeout(self._assignment.timeout)
        try:
            self._outlets.run_opened(self._assignment, self._model.name)
            self._budget.start()
            async with clock:
                while True:
                    await self._take_step()
        except RunEnding as ending:
            self._ending = ending
        except TimeoutError as fault:
            late = timed_out(self._assignment) if clock.expired() else _failed(f"Something took too long: {fault}.")
            self._ending = self._ending or late
        except PilothouseError as fault:
            self._ending = self._ending or _failed(fault.message)
        finally:
            self._close_record()
        await self._outlets.actions_finished(self._step)
        return self.outcome_so_far()

    def outcome_so_far(self) -> Outcome:
        """Return the outcome of the run as it stands; one that has not ended counts as stopped."""
        ending = self._ending or RunStopped("The run was stopped.")
        plan = self._step.plan
        return settle(ending, self._budget.spent, note=plan.see if plan else "", limit=self._budget.limit)

    def _close_record(self) -> None:
        try:
            self._outlets.run_closed(self.outcome_so_far())
        except MachineFault as fault:
            log.error("the end of the run could not be recorded", reason=fault.message)

    async def _take_step(self) -> None:
        allowance = self._budget.next_step(answer_refused=self._step.answer_was_refused)
        self._step = step = Step(allowance.number, allowance.limit)
        clock = asyncio.timeout(allowance.seconds)
        try:
            async with clock:
                await self._observe()
                await self._ask()
                await self._act()
        except TimeoutError:
            if not clock.expired():
                raise
            step.trouble = f"The step was cut off after {allowance.seconds:.0f} seconds."
        except PilothouseError as error:
            step.trouble = None if isinstance(error, RunDone) else error.message
            raise
        finally:
            step.close(step.trouble or "The run has ended.")
            self._outlets.step_closed(step)
        await self._outlets.actions_finished(step)
        if self._ending is not None:
            raise self._ending
        if step.trouble:
            await self._outlets.notice("step_cut_off", step.trouble)
        self._window.remember(step)
        self._progress.note(step)

    async def _observe(self) -> None:
        observation = await self._context.browser.observe()
        self._step.observation = observation
        if observation.screenshot is not None:
            self._step.screenshot = await self._outlets.keep_screenshot(self._step.number, observation.screenshot)

    async def _ask(self) -> None:
        """Ask what to do, at most twice more while the reply cannot be used, and tell the feed of the plan."""
        step = self._step
        request = await self._request()
        self._outlets.step_asked(step, text_of(request))
        started = time.monotonic()
        while True:
            reply = await self._model.ask(request)
            await self._warn(reply)
            try:
                step.plan = read_plan(reply, self._registry, only_done=step.limit is not None)
                break
            except ReplyMalformed as defect:
                request = await self._ask_again(request, reply, defect)
        step.think_ms = round((time.monotonic() - started) * 1000)
        step.planning_tokens = self._budget.take_tokens()
        await self._outlets.step_planned(step, reply)

    async def _request(self) -> ModelRequest:
        """Return the request for this step, and tell the feed where it is more than an ordinary one."""
        step, repeats = self._step, self._progress.repeats
        notices = [prompt.step_notice(step.number, self._assignment.max_steps)]
        if self._progress.is_stuck:
            notices.append(prompt.repeating_notice(repeats))
            await self._outlets.notice("repeating", f"The same was tried {repeats} times on the same page.")
        if step.limit is not None:
            notices.append(prompt.delivery_notice(step.limit))
            await self._outlets.notice("delivery_turn", f"{step.limit.message} The agent is asked for what it has.")
        notes = Notes(self._context.scratchpad.describe(), self._context.scratchpad.todo)
        return self._window.compose(step, notes, tuple(notices), with_image=self._model.sees_images)

    async def _ask_again(self, request: ModelRequest, reply: Reply, defect: ReplyMalformed) -> ModelRequest:
        """Return the request that names the defect; raises RunFailed when that was done often enough."""
        step = self._step
        step.rejected.append(reply.text)
        if len(step.rejected) > MAX_REPAIRS:
            text = f"The model's reply could not be used, also after being told why: {defect.message}"
            raise step.limit or RunFailed(text, failure=FailureKind.INVALID_OUTPUT)
        text = f"The model's reply could not be used, it is asked again: {defect.message}"
        await self._outlets.notice("reply_repaired", text)
        if reply.stop == "length" and not is_long(request):
            return lengthened(request)
        correction = prompt.correction(defect.message, only_done=step.limit is not None)
        return corrected(request, reply.text, correction)

    async def _warn(self, reply: Reply) -> None:
        """Tell the feed what the model's adapter warns of, each warning once."""
        for warning in reply.warnings:
            if warning not in self._warnings:
                self._warnings.add(warning)
                await self._outlets.notice("model_warning", warning)

    async def _act(self) -> None:
        """Run the planned actions in order, as far as the page stays the one that was seen."""
        step = self._step
        assert step.plan is not None
        for action in step.plan.actions:
            step.is_acting = True
            receipt = await self._run_action(action)
            step.is_acting = False
            step.receipts.append(replace(receipt, tokens=self._budget.take_tokens()))
            await self._outlets.actions_finished(step)
            if self._ending is not None:
                raise self._ending
            if receipt.ends_chain or receipt.status not in (ReceiptStatus.OK, ReceiptStatus.NO_EFFECT):
                step.close(f"{action.call.name} ended the chain.")
                break

    async def _run_action(self, action: PlannedAction) -> Receipt:
        if isinstance(action.runnable, ActionInvalid):
            return Receipt(ReceiptStatus.FAILED, action.runnable.message, ends_chain=True)
        if action.call.name == "done" and any(
            earlier.status is not ReceiptStatus.OK for earlier in self._step.receipts
        ):
            return Receipt(ReceiptStatus.SKIPPED, "Not done: an action before it had no effect.", ends_chain=True)
        try:
            return await self._registry.run(self._context, action.runnable)
        except RunDone as done:
            self._ending = done
            return Receipt(ReceiptStatus.OK, done.message)


def _failed(message: str) -> RunFailed:
    return RunFailed(message, failure=FailureKind.AGENT_FAILURE)
