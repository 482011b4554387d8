"""Runs the actions of a plan in order, as far as the page stays the one that was seen."""

from dataclasses import replace

from appliance.actions.base import ActionContext, Receipt
from appliance.actions.registry import Registry
from appliance.actions.targets import target_fields
from appliance.agent.budget import Budget
from appliance.agent.clocks import StepClock
from appliance.agent.outlets import Outlets
from appliance.agent.progress import Progress
from appliance.agent.step import PlannedAction, Step
from appliance.errors import ActionInvalid, RunDone
from appliance.words import ReceiptStatus

_GOES_ON = (ReceiptStatus.OK, ReceiptStatus.NO_EFFECT)


class Chain:
    """Runs the chain of each step; what is not run any more is skipped, with the reason in its receipt."""

    def __init__(
        self, context: ActionContext, registry: Registry, progress: Progress, budget: Budget, outlets: Outlets
    ) -> None:
        self._context = context
        self._registry = registry
        self._progress = progress
        self._budget = budget
        self._outlets = outlets

    async def run(self, step: Step, clock: StepClock) -> None:
        """Run the step's plan and leave the receipts in the step, its answer too if one was accepted."""
        assert step.plan is not None
        pause = self._context.pause
        for action in step.plan.actions:
            await pause.wait()
            is_later = bool(step.receipts) or pause.count != step.pauses
            if is_later and (changed := await self._changed(action)):
                step.close(f"The page is no longer what you planned for: {changed.rstrip('.')}.")
                break
            receipt = await self._run_action(action, step, clock)
            step.receipts.append(replace(receipt, charges=self._budget.take_charges()))
            await self._outlets.actions_finished(step)
            if step.answer is not None:
                return
            if receipt.ends_chain or (receipt.status not in _GOES_ON and not self._is_desk_work(action)):
                why = "the page is no longer the one you saw" if receipt.status in _GOES_ON else "it did not go well"
                step.close(f"{action.call.name} ended the chain: {why}.")
                break
        await self._outlets.actions_finished(step)

    def _is_desk_work(self, action: PlannedAction) -> bool:
        return self._registry.is_desk_work(action.call.name)

    async def _changed(self, action: PlannedAction) -> str | None:
        """Return a sentence about an element that the action names and that is no longer what was seen."""
        if isinstance(action.runnable, ActionInvalid) or self._is_desk_work(action):
            return None  # the numbers of desk work are those of records, not of elements
        parameters = action.runnable.parameters
        for name in target_fields(parameters):
            if change := await self._context.browser.recheck(getattr(parameters, name)):
                return change
        return None

    async def _run_action(self, action: PlannedAction, step: Step, clock: StepClock) -> Receipt:
        if isinstance(action.runnable, ActionInvalid):
            return Receipt(ReceiptStatus.FAILED, action.runnable.message, ends_chain=True)
        if self._progress.is_barred(action, self._context.browser.tab.url):
            text = f"{action.call.name} was not done again: this very call came to nothing too often here."
            return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
        if action.call.name == "done" and any(earlier.status is not ReceiptStatus.OK for earlier in step.receipts):
            return Receipt(ReceiptStatus.SKIPPED, "Not done: an action before it had no effect.", ends_chain=True)
        clock.begin(self._registry.deadline(action.runnable.name))
        step.is_acting = True  # and stays so when what follows is interrupted
        try:
            receipt = await self._registry.run(self._context, action.runnable)
        except RunDone as done:
            step.answer = done
            receipt = Receipt(ReceiptStatus.OK, done.message)
        step.is_acting = False
        return receipt
