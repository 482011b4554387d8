import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.ending import ending_of
from appliance.errors import (
    BrowserLost,
    ContextOverflow,
    MachineFault,
    RunDone,
    RunEnding,
    RunFailed,
    RunTimedOut,
    StepsSpent,
)
from appliance.words import FailureKind

TASK = Assignment("Do it", timeout=90)


@pytest.mark.parametrize("ending", [RunDone("Done.", answer=1), StepsSpent("No more."), RunFailed("No.")])
def test_an_ending_is_what_it_is(ending: RunEnding):
    assert ending_of(ending, TASK) is ending
    assert ending_of(ending, TASK, is_late=True) is ending


@pytest.mark.parametrize(
    ("fault", "failure", "text"),
    [
        (ContextOverflow("Too long."), FailureKind.PROVIDER_ERROR, "Too long."),
        (BrowserLost("It went away."), FailureKind.AGENT_FAILURE, "It went away."),
        (MachineFault("The disk is full."), FailureKind.AGENT_FAILURE, "The disk is full."),
        (TimeoutError("the page"), FailureKind.AGENT_FAILURE, "Something took too long: the page."),
        (
            ZeroDivisionError("x"),
            FailureKind.AGENT_FAILURE,
            "The run met a fault in our own program (ZeroDivisionError).",
        ),
    ],
)
def test_a_fault_ends_a_run_as_failed_and_says_why(fault: Exception, failure: FailureKind, text: str):
    ending = ending_of(fault, TASK)
    assert isinstance(ending, RunFailed)
    assert (ending.failure, ending.message) == (failure, text)


def test_out_of_time_is_an_ending_of_its_own():
    ending = ending_of(TimeoutError(), TASK, is_late=True)
    assert isinstance(ending, RunTimedOut)
    assert ending.message == "The time of 90 seconds is used up."
