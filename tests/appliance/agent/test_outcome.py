from decimal import Decimal

import pytest

from appliance.agent.outcome import Spent, settle
from appliance.errors import MoneySpent, RunDone, RunEnding, RunFailed, RunStopped, RunTimedOut, StepsSpent
from appliance.events import TokenCount
from appliance.words import Ending, FailureKind

SPENT = Spent(4, TokenCount(10, 0, 0, 5), Decimal("0.02"))


def test_an_answer_is_a_success_even_when_the_agent_has_doubts():
    outcome = settle(RunDone("Done.", answer={"price": None}, success=False), SPENT, note="No price is shown.")
    assert (outcome.ending, outcome.is_successful, outcome.failure) == (Ending.DONE, True, None)
    assert outcome.output == {"price": None}
    assert outcome.summary.startswith("No price is shown.")
    assert "not done in full" in outcome.summary


@pytest.mark.parametrize("limit", [StepsSpent("The steps are used up."), RunTimedOut("The time is used up.")])
def test_an_answer_within_steps_and_time_counts_as_done(limit: RunEnding):
    outcome = settle(RunDone("Done.", answer="3"), SPENT, limit=limit)
    assert (outcome.ending, outcome.is_successful, outcome.failure) == (Ending.DONE, True, None)
    assert limit.message in outcome.summary


def test_an_answer_asked_for_because_of_money_is_delivered_and_still_over_budget():
    outcome = settle(RunDone("Done.", answer="3"), SPENT, limit=MoneySpent("The budget is used up."))
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.BUDGET_SPENT, "3", True)
    assert outcome.failure is FailureKind.BUDGET_EXCEEDED


@pytest.mark.parametrize(
    ("ending", "expected", "failure"),
    [
        (RunTimedOut("x"), Ending.TIMED_OUT, FailureKind.SESSION_TIMEOUT),
        (StepsSpent("x"), Ending.STEPS_SPENT, FailureKind.AGENT_FAILURE),
        (MoneySpent("x"), Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED),
        (RunStopped("x"), Ending.STOPPED, None),
    ],
)
def test_a_run_that_ends_without_an_answer_has_delivered_nothing(
    ending: RunEnding, expected: Ending, failure: FailureKind | None
):
    outcome = settle(ending, SPENT, note="I was about to read the price.")
    assert (outcome.ending, outcome.failure, outcome.output, outcome.is_successful) == (expected, failure, None, False)


def test_a_provider_fault_keeps_its_kind_and_status():
    fault = RunFailed("Too many requests.", failure=FailureKind.PROVIDER_RATE_LIMIT, status_code=429)
    outcome = settle(fault, SPENT)
    assert (outcome.ending, outcome.failure, outcome.status_code) == (
        Ending.FAILED,
        FailureKind.PROVIDER_RATE_LIMIT,
        429,
    )
    assert outcome.summary == "Too many requests."
    assert (outcome.steps, outcome.tokens, outcome.cost_usd) == (4, SPENT.tokens, SPENT.cost_usd)
