"""How a run ended and whether it delivered, derived from its ending alone."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from appliance.actions.base import Checkpoint
from appliance.errors import MoneySpent, RunDone, RunEnding
from appliance.events import Notice, TokenCount
from appliance.words import Ending, FailureKind


@dataclass(frozen=True)
class Spent:
    """What a run used up; `cost_usd` is None when the price of a call is not known.

    `estimated_calls` were given up before their replies told what they used; tokens and cost hold an estimate of it.
    `services_usd` is what services other than the model cost, which is in `cost_usd` as well.
    """

    steps: int
    tokens: TokenCount
    cost_usd: Decimal | None
    estimated_calls: int = 0
    services_usd: Decimal = Decimal(0)


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    `output` is the text or the JSON value that was handed in; else the last partial result that was saved, None
    without one. `is_successful` says that the requested shape was delivered, not that the answer is good. `failure`
    may be set beside a delivered output: the run then delivered without finishing on its own terms. `summary` is
    written for a person. `provenance` says where each value was read (see sources.py), None where nothing is known of
    it. `handover` is the part of the summary about what is handed over without an answer, `notice` what the feed is
    told of it.
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
    services_usd: Decimal = Decimal(0)
    provenance: dict[str, dict[str, Any]] | None = None
    handover: str = ""
    notice: Notice | None = None


def settle(
    ending: RunEnding,
    spent: Spent,
    *,
    note: str = "",
    limit: RunEnding | None = None,
    partial: Checkpoint | None = None,
) -> Outcome:
    """Return the outcome of a run that ended this way.

    `note` is the agent's own last sentence. `limit` is the limit on whose account the answer was asked for early;
    when it is money, the run counts as ended by it even though its answer was delivered. `partial` is handed over
    where there is no answer.
    """
    is_delivered = isinstance(ending, RunDone)
    decisive = limit if is_delivered and isinstance(limit, MoneySpent) else ending
    saved = partial.value if partial is not None else None
    return Outcome(
        ending=decisive.ending,
        output=ending.answer if isinstance(ending, RunDone) else saved,
        is_successful=is_delivered,
        failure=decisive.failure,
        status_code=decisive.status_code,
        summary=_summary(ending, note, limit, partial, spent),
        steps=spent.steps,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
        services_usd=spent.services_usd,
    )


def _summary(ending: RunEnding, note: str, limit: RunEnding | None, partial: Checkpoint | None, spent: Spent) -> str:
    sentences = [ending.message]
    if isinstance(ending, RunDone):
        sentences = [note or ending.message]
        if limit is not None:
            sentences.append(f"The answer was asked for early: {limit.message}")
        if not ending.success:
            sentences.append("The agent says that the task is not done in full.")
    elif partial is not None:
        sentences.append(f"What it had saved until then is handed over, as partial ({partial.file_name}).")
    if spent.estimated_calls:
        sentences.append(
            f"The cost holds an estimate for {spent.estimated_calls} call(s) to the model that were given up."
        )
    return " ".join(sentences)
