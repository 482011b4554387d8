"""How a run ended and whether it delivered, derived from its ending alone."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from appliance.actions.base import Checkpoint
from appliance.errors import MoneySpent, RunDone, RunEnding
from appliance.events import Notice, TokenCount
from appliance.store.answers import AnswerStore
from appliance.store.sources import trace
from appliance.words import Ending, FailureKind


@dataclass(frozen=True)
class Spent:
    """What a run used up; `cost_usd` is None when the price of a call is not known.

    `estimated_calls` were given up, or their replies did not tell what they used; tokens and cost hold an estimate.
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

    `output` is the text or the JSON value that was handed in; else what the answer store holds, or the last partial
    result that was saved, None without either. `is_successful` says that the requested shape was delivered, not that
    the answer is good. `failure` may be set beside a delivered output: the run then delivered without finishing on its
    own terms. `summary` is written for a person. `provenance` says where each value was read (see store/sources.py),
    None where nothing is known of it. `handover` is the part of the summary about what is handed over without an
    answer, `notice` what the feed is told of it.
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


@dataclass(frozen=True)
class Leftovers:
    """What a run hands over when it ends without an answer: the answer store, else what was saved as partial."""

    store: AnswerStore | None = None
    partial: Checkpoint | None = None


@dataclass(frozen=True)
class _Handover:
    """What is handed over without an answer, and the sentence about it."""

    output: Any = None
    is_delivered: bool = False
    provenance: dict[str, dict[str, Any]] | None = None
    text: str = ""


def settle(
    ending: RunEnding,
    spent: Spent,
    *,
    note: str = "",
    limit: RunEnding | None = None,
    leftovers: Leftovers | None = None,
) -> Outcome:
    """Return the outcome of a run that ended this way.

    `note` is the agent's own last sentence. `limit` is the limit on whose account the answer was asked for early;
    when it is money, the run counts as ended by it even though its answer was delivered. `leftovers` are handed over
    where there is no answer: an answer store that fits its schema counts as delivered.
    """
    done = ending if isinstance(ending, RunDone) else None
    decisive = limit if done is not None and isinstance(limit, MoneySpent) else ending
    handover = _Handover() if done is not None else _hand_over(leftovers or Leftovers())
    return Outcome(
        ending=decisive.ending,
        output=done.answer if done is not None else handover.output,
        is_successful=done.shape.fits if done is not None else handover.is_delivered,
        failure=decisive.failure,
        status_code=decisive.status_code,
        summary=_summary(ending, note, limit, handover.text, spent),
        steps=spent.steps,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
        services_usd=spent.services_usd,
        provenance=done.shape.sources if done is not None else handover.provenance,
        handover=handover.text,
        notice=Notice(code="store_delivered", text=handover.text) if handover.is_delivered else None,
    )


def kept(outcome: Outcome, answer: RunDone) -> Outcome:
    """Return the outcome of a run that had handed in an answer before something else ended it."""
    text = "The answer it had handed in by then is kept."
    return replace(
        outcome,
        output=answer.answer,
        is_successful=answer.shape.fits,
        summary=f"{outcome.summary} {text}",
        provenance=answer.shape.sources,
        handover=text,
    )


def _hand_over(leftovers: Leftovers) -> _Handover:
    store, partial = leftovers.store, leftovers.partial
    if store is not None and store.is_touched:
        answer = store.value
        sources = trace(answer, store.provenance())
        if store.is_valid:
            text = (
                f"What was in the answer store by then fits the output schema and is delivered. {store.coverage_line}"
            )
            return _Handover(answer, True, sources, text)
        text = f"What was in the answer store by then is handed over, as partial. {store.coverage_line}"
        return _Handover(answer, False, sources, text)
    if partial is not None:
        text = f"What it had saved until then is handed over, as partial ({partial.file_name})."
        return _Handover(partial.value, text=text)
    return _Handover()


def _summary(ending: RunEnding, note: str, limit: RunEnding | None, handover: str, spent: Spent) -> str:
    sentences = [ending.message]
    if isinstance(ending, RunDone):
        sentences = [ending.note or note or ending.message]
        if limit is not None:
            sentences.append(f"The answer was asked for early: {limit.message}")
        if ending.shape.lacking:
            sentences.append(ending.shape.lacking)
        elif not ending.success:
            sentences.append("The agent says that the task is not done in full.")
    elif handover:
        sentences.append(handover)
    if spent.estimated_calls:
        sentences.append(
            f"The cost holds an estimate for {spent.estimated_calls} call(s) that were given up or not counted."
        )
    return " ".join(sentences)
