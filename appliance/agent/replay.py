"""Does a recorded run again in a live browser: elements are known again by their keys, or by a model if one is named.

Feed and record get the same entries as from any run. Every action is compared with what was recorded; the first that
cannot be done ends the replay, which then tells how far it came.
"""

import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import structlog

from appliance.actions.base import ActionContext, Receipt
from appliance.actions.registry import Registry
from appliance.actions.targets import target_fields
from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.ending import ending_of, failed
from appliance.agent.finding import Finder, Pace
from appliance.agent.fund import Funding
from appliance.agent.metering import MeteredModel
from appliance.agent.outcome import Leftovers, Outcome, settle
from appliance.agent.outlets import Outlets
from appliance.agent.recognition import recognise
from appliance.agent.record import RecordedReceipt, Replayed, ReplayedAction
from appliance.agent.recorded import RecordedRun
from appliance.agent.replay_answer import answer_of
from appliance.agent.replay_files import NEEDING, await_downloads, with_todays_files
from appliance.agent.replay_plan import IntendedStep, Intent, plan_replay
from appliance.agent.replay_report import BLIND, ReplayReport, compare, unstarted
from appliance.agent.sight import Sight
from appliance.agent.step import Plan, PlannedAction, Step
from appliance.browser.matching import ElementKeys, Match
from appliance.browser.pointer import to_picture
from appliance.captcha.probe import find_captchas
from appliance.errors import (
    ActionFailed,
    ActionInvalid,
    MachineFault,
    PilothouseError,
    RunDone,
    RunEnding,
    RunStopped,
    StepsSpent,
)
from appliance.events import ActionCall, Charge, TokenCount
from appliance.models.base import Reply
from appliance.words import Completion, ReceiptStatus

SOLVING = "solve_captcha"
WAY_IN = "replay_way_in"
"""The call that opens the page where a recorded run began."""

log = structlog.get_logger()


@dataclass(frozen=True)
class Original:
    """The run to be done again, and how.

    `with_model` does the actions again that ask a model, too, and has it find the elements that keys do not find.
    """

    run: RecordedRun
    with_model: bool = False
    pace: Pace = field(default_factory=Pace)


class Replay:
    """Does one recorded run again with one browser; to be run once."""

    def __init__(
        self,
        original: Original,
        assignment: Assignment,
        context: ActionContext,
        registry: Registry,
        outlets: Outlets,
    ) -> None:
        self._recorded = original.run
        self._assignment = assignment
        self._registry = registry
        self._outlets = outlets = outlets.without(context.sensitive)
        context.browser.hide(lambda: context.sensitive.values, context.sensitive.is_in)
        self._pause = pause = context.pause
        self._budget = Budget(
            assignment, outlets.price, pause, model=context.model.name, price_version=outlets.price_version
        )
        self._funding = Funding(outlets.fund, self._budget, pause)
        lost = context.browser.lost
        self._model = MeteredModel(context.model, self._budget, lost, context.sensitive, pause, self._funding)
        self._context = context = replace(context, model=self._model, tell=outlets.notice, purse=self._budget)
        self._sight = Sight(context, registry, outlets)
        self._steps = plan_replay(original.run, with_model=original.with_model)
        self._with_model = original.with_model
        self._pace = original.pace
        self._finder = Finder(context, registry, original.pace)
        self._reports: list[ReplayedAction] = []
        self._ending: RunEnding | None = None
        self._interruption: RunEnding | None = None
        self._step = Step(0)
        self._has_failed = False
        self._document = ""

    @property
    def report(self) -> ReplayReport:
        """What came of each action so far; those that were not come to are told as such."""
        done = {report.call_id for report in self._reports}
        missing = [
            unstarted(intent, "skipped" if intent.skip else "not_reached", intent.skip)
            for step in self._steps
            for intent in step.intents
            if intent.call.call_id not in done
        ]
        return ReplayReport((*self._reports, *missing))

    async def run(self) -> Outcome:
        """Do the steps again and return the outcome; of our own errors none comes out of here.

        Raises asyncio.CancelledError when it is stopped.
        """
        clock = self._pause.timeout(self._assignment.timeout)
        try:
            self._outlets.run_opened(self._assignment, self._model.name)
            self._budget.start()
            async with clock:
                await self._take_steps()
        except (PilothouseError, TimeoutError) as fault:
            self._ending = ending_of(fault, self._assignment, is_late=clock.expired())
            if self._context.store is not None:
                await self._context.store.trace()
        except Exception as fault:
            self._ending = ending_of(fault, self._assignment)
            raise
        finally:
            self._close_record()
        await self._outlets.last_told(self._step)
        return self.outcome_so_far()

    @property
    def memory(self) -> None:
        """Nothing: a replay tells a model nothing that a later run could go on with."""

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Everything the replay was charged so far, told to the feed or not."""
        return self._budget.charges

    @property
    def standing(self) -> Decimal | None:
        """The US dollars that a replay has spent which stands still; None while it goes on and may cost more."""
        return self._model.standing

    def interrupt(self, ending: RunEnding) -> None:
        """Take note of how the replay ends when it is cancelled next; one that has ended by itself keeps its ending."""
        self._interruption = ending

    def outcome_so_far(self) -> Outcome:
        """Return the outcome of the replay as it stands; one not ended counts as interrupted, else as stopped."""
        ending = self._ending or self._interruption or RunStopped("The replay was stopped.")
        spent = replace(self._budget.spent, steps=self._step.number)
        if isinstance(ending, RunDone):
            return settle(ending, spent, note=self.report.summary)
        outcome = settle(ending, spent, leftovers=Leftovers(self._context.store, self._context.partial))
        output = outcome.output
        if output is None and self._assignment.output_schema is None:
            output = self.report.text
        summary = f"{ending.message} {self.report.summary} {outcome.handover}".strip()
        return replace(outcome, output=output, summary=summary)

    def _close_record(self) -> None:
        try:
            report = self.report
            self._outlets.record.append(
                Replayed(completion=report.completion, summary=report.summary, actions=list(report.actions))
            )
            self._outlets.run_closed(self.outcome_so_far())
        except MachineFault as fault:
            log.error("the end of a replay could not be recorded", reason=fault.message)

    async def _take_steps(self) -> None:
        """Do every step, or as many as can be; always raises an ending."""
        for number, intended in enumerate(self._steps, start=1):
            await self._pause.wait()
            if number > self._assignment.max_steps:
                raise StepsSpent(f"The {self._assignment.max_steps} steps are used up.")
            await self._funding.before_step()
            await self._take_step(number, intended)
            if self._has_failed:
                break
        await self._pause.wait()
        await await_downloads(self._context)
        report = self.report
        await self._outlets.notice(f"replay_{report.completion}", report.summary)
        if report.completion is Completion.FAILED:
            raise failed("The recorded run could not be done again.")
        if self._context.store is not None:
            await self._context.store.trace()
        raise answer_of(self._recorded, report, self._context)

    async def _take_step(self, number: int, intended: IntendedStep) -> None:
        self._step = step = Step(number)
        intents = [intent for intent in intended.intents if not intent.skip]
        if number == 1:
            intents = [*self._way_in(intended), *intents]
        self._reports += [unstarted(intent, "skipped", intent.skip) for intent in intended.intents if intent.skip]
        with self._outlets.closing(step, "The replay ended here."):
            await self._begin(step, intended, intents)
            for intent in intents:
                await self._pause.wait()
                step.is_acting = True
                receipt = await self._replay(intent, intended)
                step.is_acting = False
                step.receipts.append(replace(receipt, charges=self._budget.take_charges()))
                await self._outlets.actions_finished(step)
                if self._has_failed:
                    break
        await self._outlets.actions_finished(step)

    def _way_in(self, first: IntendedStep) -> list[Intent]:
        """Return the navigation to where the recorded run began, if it did not begin on an empty page."""
        if first.url in ("", "about:blank", self._context.browser.tab.url):
            return []
        call = ActionCall(WAY_IN, "navigate", {"url": first.url})
        then = RecordedReceipt(call_id=call.call_id, status=ReceiptStatus.OK, text="The run began here.", url=first.url)
        return [Intent(call, then)]

    async def _begin(self, step: Step, intended: IntendedStep, intents: list[Intent]) -> None:
        """Look at the page, and tell feed and record what is about to be done."""
        self._document = self._context.browser.tab.activity.document
        await self._sight.look(step, Step(0))
        self._context.step, self._context.screenshot = step.number, step.screenshot
        self._outlets.step_asked(step, "")
        actions = tuple(PlannedAction(intent.call, ActionInvalid("It is replayed.")) for intent in intents)
        see = f"Step {step.number} of {len(self._steps)} of the recorded run."
        move = intended.move or ", ".join(intent.call.name for intent in intents)
        step.plan = Plan(see, "Do again what was recorded.", move, actions)
        text = json.dumps({"action": [{intent.call.name: intent.call.arguments} for intent in intents]})
        await self._outlets.step_planned(step, Reply(text, TokenCount(), self._model.name))

    async def _replay(self, intent: Intent, intended: IntendedStep) -> Receipt:
        """Do one action, several times if need be, and note how it went."""
        before = self._context.browser.tab.url
        receipt, level = await self._attempt(intent, intended)
        for pause in self._pace.pauses if self._is_tried_again(intent.call.name) else ():
            if receipt.status not in (ReceiptStatus.FAILED, ReceiptStatus.BLOCKED) or not level:
                break
            await self._finder.wait_for_change(pause)
            await self._pause.wait()
            receipt, level = await self._attempt(intent, intended)
        report = compare(intent, receipt, level if intent.targets else "", before)
        if intent.call.call_id != WAY_IN or report.state == "failed":
            self._reports.append(report)
        self._has_failed = report.state == "failed"
        return replace(receipt, text=_told(receipt.text, report))

    def _is_tried_again(self, name: str) -> bool:
        """Whether an action that failed may work a moment later: what the page need not be ready for does not."""
        return self._registry.knows(name) and self._registry.touches_page(name) and name != SOLVING

    async def _attempt(self, intent: Intent, intended: IntendedStep) -> tuple[Receipt, str]:
        """Do the action once; returns its receipt and by what its elements were known again, "" if they were not."""
        if intent.call.name == SOLVING and not self._registry.knows(SOLVING):
            return await _look_for_captcha(self._context), "exact"
        if not self._registry.knows(intent.call.name):
            return Receipt(ReceiptStatus.FAILED, f"There is no {intent.call.name} on this machine today."), ""
        if intent.call.name in NEEDING:
            await await_downloads(self._context)
        arguments, level = dict(intent.call.arguments), "exact"
        try:
            await self._read_new_document()
            fields = self._fields(intent)
            if intent.targets and not fields:
                blocked, level = await self._point(arguments, intent, intended)
                if blocked is not None:
                    return blocked, level
            for name, keys in zip(fields, intent.targets if fields else (), strict=True):
                match = await self._finder.find(keys, intent)
                if match.found is not None and match.found.element is not None:
                    arguments[name] = self._context.browser.adopt(match.found.element)
                    level = match.level if match.level != "exact" else level
                    continue
                arguments[name] = await self._recognise(keys, intent, intended)
                if arguments[name] is None:
                    return _not_found(intent, match), ""
                level = "model"
            arguments = await self._with_tab(with_todays_files(self._context, arguments), intended)
            parsed = self._registry.parse({intent.call.name: arguments})
        except ActionFailed as error:
            return Receipt(ReceiptStatus.FAILED, error.message), ""
        return await self._registry.run(self._context, parsed), level

    async def _point(
        self, arguments: dict[str, Any], intent: Intent, intended: IntendedStep
    ) -> tuple[Receipt | None, str]:
        """Have the arguments point at where what lay at the recorded point is now, the same point when it is not found.

        Returns a receipt when something covers it, and by what it was known again.
        """
        keys, browser = intent.targets[0], self._context.browser
        match = await self._finder.find(keys, intent)
        element, level = match.found.element if match.found is not None else None, match.level
        if element is None:
            number = await self._recognise(keys, intent, intended)
            if number is None:
                return None, BLIND
            element, level = browser.element(number), "model"
        place = await element.point_in(keys.spot or (0.5, 0.5))
        if place.covered_by is not None:
            text = f"{keys.words} is covered by {place.covered_by}, so it was not clicked."
            return Receipt(ReceiptStatus.BLOCKED, text), level
        arguments["x"], arguments["y"] = await to_picture(browser, (place.x, place.y))
        return None, level

    async def _read_new_document(self) -> None:
        """Read a document that came since the last look: only so are its closed shadow roots known."""
        document = self._context.browser.tab.activity.document
        if document != self._document:
            self._document = document
            await self._context.browser.observe(with_screenshot=False)

    def _fields(self, intent: Intent) -> tuple[str, ...]:
        """Return the parameters that name elements; raises ActionFailed when it is not recorded which they were."""
        fields = target_fields(self._registry.parse({intent.call.name: dict(intent.call.arguments)}).parameters)
        if fields and len(fields) != len(intent.targets) and self._registry.touches_page(intent.call.name):
            raise ActionFailed(f"The record does not say which element {intent.call.name} was done to.")
        return fields if intent.targets else ()

    async def _with_tab(self, arguments: dict[str, Any], intended: IntendedStep) -> dict[str, Any]:
        """Return the arguments with today's name of the tab they name, which is the one in the same place."""
        tab_id = arguments.get("tab_id")
        if not isinstance(tab_id, str) or tab_id not in intended.tabs:
            return arguments
        tabs = await self._context.browser.list_tabs()
        place = intended.tabs.index(tab_id)
        if place >= len(tabs):
            raise ActionFailed(f"There were {len(intended.tabs)} tabs, and there are {len(tabs)} now.")
        return {**arguments, "tab_id": tabs[place].tab_id}

    async def _recognise(self, keys: ElementKeys, intent: Intent, intended: IntendedStep) -> int | None:
        """Return the number that the model gives the element on the page as it is now, if it may be asked."""
        if not self._with_model:
            return None
        seen = await self._context.browser.observe(with_screenshot=False)
        effort = self._assignment.effort
        return await recognise(self._model, intent, keys, seen, move=intended.move, effort=effort)


async def _look_for_captcha(context: ActionContext) -> Receipt:
    """Return what stands in for solving a captcha where no service is set up: none need be there today."""
    await context.browser.settle()
    found = await find_captchas(context.browser.tab)
    if not found:
        return Receipt(ReceiptStatus.NO_EFFECT, "No captcha was found on this page.")
    title = found[0].strategy.title
    return Receipt(ReceiptStatus.FAILED, f"A {title} is there, and no service is set up that solves it.")


def _not_found(intent: Intent, match: Match) -> Receipt:
    return Receipt(ReceiptStatus.FAILED, f"{intent.call.name} was not done: {match.reason}.")


def _told(text: str, report: ReplayedAction) -> str:
    """Return the receipt's text with what a person wants to know of the comparison."""
    if report.state == "differs":
        text = f"{text} Other than recorded: {report.why}."
    if report.level not in ("", "exact"):
        text = f"{text} Known again by {report.level}."
    return text
