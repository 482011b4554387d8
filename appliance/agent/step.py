"""The value of one step: what was seen, what the model answered, and what came of it."""

from dataclasses import dataclass, field

from appliance.actions.base import Receipt
from appliance.actions.registry import ParsedCall
from appliance.browser.observation import Observation
from appliance.errors import ActionInvalid, RunDone, RunEnding
from appliance.events import ActionCall, Charge, TokenCount, tokens_of
from appliance.words import ReceiptStatus


@dataclass(frozen=True)
class PlannedAction:
    """One action of a reply: as it was asked for, and as it can be run, or why it cannot."""

    call: ActionCall
    runnable: ParsedCall | ActionInvalid


@dataclass(frozen=True)
class Plan:
    """A reply that can be used: the model's three sentences, one to eight actions, and how many more it named."""

    see: str
    plan: str
    move: str
    actions: tuple[PlannedAction, ...]
    left_out: int = 0


@dataclass
class Step:
    """One step while it is worked on; a part is set as soon as it is known.

    `limit` is the limit on whose account only an answer is accepted, `answer` the one that was accepted. `trouble` is
    what cut the step short. `planning` is what asking for the plan was charged. Times are in milliseconds. `receipts`
    belong to the plan's actions in order, `reported` counts those the feed has; `is_acting` is true while the action
    after them runs. `pauses` is how often the run had been paused when the page was looked at.
    """

    number: int
    limit: RunEnding | None = None
    observation: Observation | None = None
    screenshot: str | None = None
    rejected: list[str] = field(default_factory=list[str])
    plan: Plan | None = None
    planning: tuple[Charge, ...] = ()
    think_ms: int = 0
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    reported: int = 0
    is_acting: bool = False
    pauses: int = 0
    trouble: str | None = None
    answer: RunDone | None = None

    @property
    def tokens(self) -> TokenCount:
        """The tokens of every model call of the step, those of an extract included."""
        return tokens_of((*self.planning, *(charge for receipt in self.receipts for charge in receipt.charges)))

    @property
    def carried(self) -> str | None:
        """The long texts that the actions hand over to the next step, one after the other."""
        texts = [receipt.carried for receipt in self.receipts if receipt.carried]
        return "\n\n".join(texts) or None

    def close(self, reason: str) -> None:
        """Give every action that has no receipt one; `reason` is the sentence that says why it was not done."""
        missing = len(self.plan.actions) - len(self.receipts) if self.plan is not None else 0
        if missing and self.is_acting:
            text = f"It was interrupted and may have been done or not. {reason}"
            self.receipts.append(Receipt(ReceiptStatus.FAILED, text))
            missing -= 1
        if missing:
            rest = [Receipt(ReceiptStatus.SKIPPED, "Not done either.")] * (missing - 1)
            self.receipts += [Receipt(ReceiptStatus.SKIPPED, f"Not done. {reason}"), *rest]
