"""Where a run's results go while it works: each fact of a step to the feed, for people, and to the permanent record."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from types import TracebackType

import structlog
from msgspec import structs

from appliance.agent.assignment import Assignment
from appliance.agent.budget import no_price_list
from appliance.agent.fund import Fund
from appliance.agent.outcome import Outcome
from appliance.agent.record import (
    Noted,
    Record,
    RecordedReceipt,
    RunClosed,
    RunOpened,
    StepAnswered,
    StepAsked,
    StepClosed,
)
from appliance.agent.step import Step
from appliance.browser.observation import Screenshot
from appliance.errors import MachineFault, PilothouseError, RunDone
from appliance.events import (
    ActionFinished,
    Charge,
    FeedEvent,
    GoalStated,
    Notice,
    Reviewed,
    StepPlanned,
    TokenCount,
    services_of,
    tokens_of,
)
from appliance.models.base import Reply
from appliance.sensitive import SensitiveData

log = structlog.get_logger()


@dataclass(frozen=True)
class Outlets:
    """The outlets of one run.

    `emit` takes feed entries, each with what was charged for what it tells. `keep_screenshot` stores the picture of a
    step, by its number, and returns its file name. `price` returns what the tokens of one call cost in US dollars,
    None when that is not known; `price_version` names the price list that it asks.
    `fund` is asked for the money of each step, None being as much as there need be.
    """

    emit: Callable[[FeedEvent, tuple[Charge, ...]], Awaitable[None]]
    keep_screenshot: Callable[[int, Screenshot], Awaitable[str]]
    price: Callable[[TokenCount], Decimal | None]
    record: Record
    price_version: Callable[[], str] = no_price_list
    fund: Fund | None = None

    def without(self, sensitive: SensitiveData) -> "Outlets":
        """Return outlets that let no secret pass, neither to the feed nor to the record."""
        if not sensitive:
            return self

        async def emit(event: FeedEvent, charges: tuple[Charge, ...]) -> None:
            await self.emit(sensitive.redact_all(event), charges)

        return replace(self, emit=emit, record=self.record.cleaned_by(sensitive.redact_all))

    async def notice(self, code: str, text: str) -> None:
        """Record and tell something a person should know."""
        self.record.append(Noted(code=code, text=text))
        await self.emit(Notice(code=code, text=text), ())

    async def goal_stated(self, goal: str, charges: tuple[Charge, ...]) -> None:
        """Record and tell the goal of the run, and what it took to state it."""
        self.record.append(Noted(code="goal", text=goal))
        await self.emit(GoalStated(goal=goal, tokens=tokens_of(charges)), charges)

    async def reviewed(self, event: Reviewed, charges: tuple[Charge, ...] = ()) -> None:
        """Record and tell what the reviewer said of an answer, with the tokens that it took."""
        self.record.append(Noted(code="reviewed" if event.recorded is None else "review_dissent", text=event.text))
        await self.emit(structs.replace(event, tokens=tokens_of(charges)), charges)

    def run_opened(self, assignment: Assignment, model: str) -> None:
        """Record that a run begins."""
        self.record.append(
            RunOpened(
                task=assignment.task,
                model=model,
                max_steps=assignment.max_steps,
                timeout=assignment.timeout,
                output_schema=assignment.output_schema,
                run=assignment.run,
                replays=assignment.replays,
            )
        )

    def step_asked(self, step: Step, request: str) -> None:
        """Record the text of the request that is about to be sent for an observed step."""
        observation = step.observation
        assert observation is not None
        self.record.append(
            StepAsked(
                step=step.number,
                request=request,
                url=observation.url,
                title=observation.title,
                fingerprint=observation.fingerprint,
                screenshot=step.screenshot,
                observe_ms=observation.duration_ms,
                tabs=[tab.tab_id for tab in observation.tabs] if len(observation.tabs) > 1 else [],
            )
        )

    async def step_planned(self, step: Step, reply: Reply) -> None:
        """Record and tell what the model replied, before its actions run."""
        observation, plan = step.observation, step.plan
        assert observation is not None
        assert plan is not None
        calls = tuple(action.call for action in plan.actions)
        self.record.append(
            StepAnswered(
                step=step.number,
                reply=reply.text,
                calls=list(calls),
                tokens=tokens_of(step.planning),
                model=reply.model_name,
                think_ms=step.think_ms,
                rejected=step.rejected,
                see=plan.see,
                plan=plan.plan,
                move=plan.move,
            )
        )
        await self.emit(
            StepPlanned(
                step=step.number,
                see=plan.see,
                plan=plan.plan,
                move=plan.move,
                calls=calls,
                url=observation.url,
                title=observation.title,
                tokens=tokens_of(step.planning),
                screenshot=step.screenshot,
                observe_ms=observation.duration_ms,
                think_ms=step.think_ms,
            ),
            step.planning,
        )

    async def actions_finished(self, step: Step) -> None:
        """Tell the receipts that the feed does not have yet."""
        while step.plan is not None and step.reported < len(step.receipts):
            call, receipt = step.plan.actions[step.reported].call, step.receipts[step.reported]
            step.reported += 1
            await self.emit(
                ActionFinished(
                    step=step.number,
                    call_id=call.call_id,
                    name=call.name,
                    status=receipt.status,
                    text=receipt.text,
                    duration_ms=receipt.duration_ms,
                    url=receipt.url,
                    tokens=tokens_of(receipt.charges),
                    cost_usd=services_of(receipt.charges),
                ),
                receipt.charges,
            )

    async def last_told(self, step: Step) -> None:
        """Tell the receipts of a run's last step; an outcome is not lost for a feed that cannot take them."""
        try:
            await self.actions_finished(step)
        except MachineFault as fault:
            log.error("the last receipts of the run could not be told", reason=fault.message)

    def closing(self, step: Step, reason: str) -> "Closing":
        """Return a context for the work on a step, which is closed and recorded when it is left in whatever way.

        `reason` is the sentence that tells why the rest of its actions was not done.
        """
        return Closing(self, step, reason)

    def step_closed(self, step: Step) -> None:
        """Record that a step is over, however far it came."""
        actions = step.plan.actions if step.plan is not None else ()
        receipts = [
            RecordedReceipt(
                call_id=action.call.call_id,
                status=receipt.status,
                text=receipt.text,
                url=receipt.url,
                duration_ms=receipt.duration_ms,
                carried=receipt.carried,
                targets=list(receipt.targets),
            )
            for action, receipt in zip(actions, step.receipts, strict=False)
        ]
        self.record.append(StepClosed(step=step.number, receipts=receipts, tokens=step.tokens, trouble=step.trouble))

    def run_closed(self, outcome: Outcome) -> None:
        """Record how the run ended."""
        self.record.append(
            RunClosed(
                ending=outcome.ending,
                is_successful=outcome.is_successful,
                summary=outcome.summary,
                steps=outcome.steps,
                output=outcome.output,
                failure=outcome.failure,
                status_code=outcome.status_code,
                tokens=outcome.tokens,
                cost_usd=None if outcome.cost_usd is None else f"{outcome.cost_usd:f}",
                provenance=outcome.provenance,
            )
        )


class Closing:
    """Closes a step when its context is left, with what went wrong in it as its trouble."""

    def __init__(self, outlets: Outlets, step: Step, reason: str) -> None:
        self._outlets = outlets
        self._step = step
        self._reason = reason

    def __enter__(self) -> None:
        """Begin the work on the step."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the step; a record that cannot be written takes the place of no stop and of no ending."""
        if isinstance(error, PilothouseError) and not isinstance(error, RunDone):
            self._step.trouble = error.message
        self._step.close(self._step.trouble or self._reason)
        try:
            self._outlets.step_closed(self._step)
        except MachineFault as fault:
            if error is None:
                raise
            log.error("the end of a step could not be recorded", reason=fault.message)
