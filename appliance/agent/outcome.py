"""How a run ended and whether it delivered, derived from its ending alone."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from appliance.errors import MoneySpent, RunDone, RunEnding
from appliance.events import TokenCount
from appliance.words import Ending, FailureKind


@dataclass(frozen=True)
class Spent:
    """What a run used up; `cost_usd` is None when the price of a call is not known."""

    steps: int
    tokens: TokenCount
    cost_usd: Decimal | None


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    `output` is the text or the JSON value that was handed in, None when nothing was. `is_successful` says that the
    requested shape was delivered, not that the answer is good. `failure` may be set beside a delivered output: the
    run then delivered without finishing on its own terms. `summary` is one sentence for a person.
    """

    ending: Ending
    output: Any
    is_successful: bool
    failure: FailureKind | None
    status_code: int | None
    summary: str
    steps: int
    tokens: TokenCount
    cost_usd: Decimal | None


def settle(ending: RunEnding, spent: Spent, *, note: str = "", limit: RunEnding | None = None) -> Outcome:
    """Return the outcome of a run that ended this way.

    `note` is the agent's own last sentence. `limit` is the limit on whose account the answer was asked for early;
    when it is money, the run counts as ended by it even though its answer was delivered.
    """
    if isinstance(ending, RunDone):
        cut_short = limit if isinstance(limit, MoneySpent) else None
        return Outcome(
            ending=(cut_short or ending).ending,
            output=ending.answer,
            is_successful=True,
            failure=cut_short.failure if cut_short else None,
            status_code=None,
            summary=_summary(ending, note, limit),
            steps=spent.steps,
            tokens=spent.tokens,
            cost_usd=spent.cost_usd,
        )
    return Outcome(
        ending=ending.ending,
        output=None,
        is_successful=False,
        failure=ending.failure,
        status_code=ending.status_code,
        summary=ending.message,
        steps=spent.steps,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
    )


def _summary(ending: RunDone, note: str, limit: RunEnding | None) -> str:
    sentences = [note or ending.message]
    if limit is not None:
        sentences.append(f"The answer was asked for early: {limit.message}")
    if not ending.success:
        sentences.append("The agent says that the task is not done in full.")
    return " ".join(sentences)
