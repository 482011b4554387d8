"""The entries of a session's feed: one frozen struct per kind, stored as tagged JSON, newest kinds at the end.

An event is written once and rendered three times: as a row of the page, as a live fragment and as a v3 message.
"""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import msgspec

from appliance.words import Ending, FailureKind, Purpose, ReceiptStatus

_MICRO_DOLLAR = Decimal("0.000001")


class Event(msgspec.Struct, frozen=True, tag_field="type", kw_only=True):
    """What every feed entry has in common: nothing but its tag."""


class ActionCall(msgspec.Struct, frozen=True):
    """One action as the model asked for it; `call_id` is unique within the session."""

    call_id: str
    name: str
    arguments: dict[str, Any]


class TokenCount(msgspec.Struct, frozen=True):
    """Tokens of model calls by the four classes that are priced apart; their sum is the whole."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: "TokenCount") -> "TokenCount":
        return TokenCount(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )


class Charge(msgspec.Struct, frozen=True):
    """One thing that was paid for: a call to a model, or to another service.

    `cost_usd` is None where no price is known, else rounded to whole micro-dollars here and nowhere else, so that
    charges can be added up in any order. `is_estimated` says that the call was given up, or that its reply did not tell
    what it used. `price_version` names the price list that was asked.
    """

    purpose: Purpose
    model: str
    tokens: TokenCount = TokenCount()
    cost_usd: Decimal | None = Decimal(0)
    is_estimated: bool = False
    price_version: str = ""

    def __post_init__(self) -> None:
        """Round the amount, half a micro-dollar up."""
        if self.cost_usd is not None:
            msgspec.structs.force_setattr(self, "cost_usd", self.cost_usd.quantize(_MICRO_DOLLAR, ROUND_HALF_UP))


def tokens_of(charges: Iterable[Charge]) -> TokenCount:
    """Return the tokens of the charges together."""
    return sum((charge.tokens for charge in charges), TokenCount())


def cost_of(charges: Iterable[Charge]) -> Decimal:
    """Return the US dollars of the charges together; those without a known price are left out."""
    return sum((charge.cost_usd for charge in charges if charge.cost_usd is not None), Decimal(0))


def services_of(charges: Iterable[Charge]) -> Decimal:
    """Return the US dollars of those charges that went to other services than the model."""
    return cost_of(charge for charge in charges if charge.purpose is Purpose.CAPTCHA)


class TaskGiven(Event, frozen=True, tag="task_given"):
    """The user's words, first entry of every run."""

    task: str
    model: str


class RunQueued(Event, frozen=True, tag="run_queued"):
    """The run waits for a slot; `position` counts from 1."""

    position: int


class RunStarted(Event, frozen=True, tag="run_started"):
    """The run holds a slot and a browser is being started on it."""

    slot: int


class StepPlanned(Event, frozen=True, tag="step_planned"):
    """What the agent saw, what the model answered, and which actions follow.

    `screenshot` is a file name inside the session's `screenshots` folder; times are in milliseconds.
    """

    step: int
    see: str
    plan: str
    move: str
    calls: tuple[ActionCall, ...]
    url: str
    title: str
    tokens: TokenCount
    screenshot: str | None = None
    observe_ms: int = 0
    think_ms: int = 0


class ActionFinished(Event, frozen=True, tag="action_finished"):
    """The receipt of one action; `url` is where the tab is afterwards.

    `tokens` are those of model calls the action made, beside the step's own in its StepPlanned. `cost_usd` is what
    other services cost.
    """

    step: int
    call_id: str
    name: str
    status: ReceiptStatus
    text: str
    duration_ms: int
    url: str = ""
    tokens: TokenCount = TokenCount()
    cost_usd: Decimal = Decimal(0)


class Notice(Event, frozen=True, tag="notice"):
    """Something a person should know; `code` is a stable word such as "reply_repaired"."""

    code: str
    text: str
    is_trouble: bool = False


class RunFinished(Event, frozen=True, tag="run_finished"):
    """How the run ended and what it delivered; `output` is a string, a JSON object or null."""

    ending: Ending
    is_successful: bool
    summary: str
    output: Any = None
    failure: FailureKind | None = None
    status_code: int | None = None
    steps: int = 0


class GoalStated(Event, frozen=True, tag="goal_stated"):
    """The run's goal in one sentence; `tokens` are those of the call that stated it."""

    goal: str
    tokens: TokenCount = TokenCount()


class Reviewed(Event, frozen=True, tag="reviewed"):
    """What the reviewer said of the answer that was handed in, in the given round of the talk about it, from 0.

    `verdict` is None where there was none. `recorded` is set when the result stands in the record whatever the verdict
    said: it tells whether the run counts as successful. `tokens` are those of the call.
    """

    verdict: bool | None
    text: str
    round: int = 0
    recorded: bool | None = None
    tokens: TokenCount = TokenCount()


FeedEvent = (
    TaskGiven | RunQueued | RunStarted | StepPlanned | ActionFinished | Notice | RunFinished | GoalStated | Reviewed
)

_decoder = msgspec.json.Decoder(FeedEvent)


def encode_event(event: FeedEvent) -> str:
    """Return the event as tagged JSON text."""
    return msgspec.json.encode(event).decode()


def decode_event(text: str) -> FeedEvent:
    """Return the event that `encode_event` wrote; raises msgspec.ValidationError for anything else."""
    return _decoder.decode(text)
