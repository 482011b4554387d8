import asyncio

import pytest

from appliance.errors import BrowserUnavailable, RunFailed, RunTimedOut
from appliance.runtime.endings import SHUT_DOWN, STOPS, failed, halt_of, halted, status_after
from appliance.words import Ending, FailureKind, SessionStatus, StopStrategy


def test_a_fault_of_the_machine_is_told_in_its_own_words():
    outcome = failed(BrowserUnavailable("There is no Chromium at /x; correct CHROMIUM_PATH."))
    assert outcome.summary == "There is no Chromium at /x; correct CHROMIUM_PATH."
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert not outcome.is_successful


def test_an_ending_keeps_its_own_kind_and_status():
    refused = RunFailed("No.", failure=FailureKind.PROVIDER_RATE_LIMIT, status_code=429)
    assert (failed(refused).failure, failed(refused).status_code) == (FailureKind.PROVIDER_RATE_LIMIT, 429)
    assert failed(RunTimedOut("Too long.")).ending is Ending.TIMED_OUT


def test_what_nobody_expected_is_told_without_its_details():
    summary = failed(KeyError("sk-secret")).summary
    assert "sk-secret" not in summary
    assert "KeyError" in summary
    assert failed(asyncio.CancelledError()).ending is Ending.FAILED


@pytest.mark.parametrize(
    ("halt", "ending", "status"),
    [
        (STOPS[StopStrategy.TASK], Ending.STOPPED, SessionStatus.IDLE),
        (STOPS[StopStrategy.SESSION], Ending.STOPPED, SessionStatus.STOPPED),
        (SHUT_DOWN, Ending.INTERRUPTED, SessionStatus.ERROR),
    ],
)
def test_a_halt_says_how_the_run_ended_and_what_the_session_is_then(halt, ending, status):
    assert (halted(halt).ending, halt.status, halted(halt).failure) == (ending, status, None)
    assert (halt_of(halt).ending, halt_of(halt).message, halt_of(halt).failure) == (ending, halt.summary, None)


@pytest.mark.parametrize(
    ("fault", "once", "kept"),
    [
        (RunTimedOut("Late."), SessionStatus.TIMED_OUT, SessionStatus.TIMED_OUT),
        (RunFailed("No."), SessionStatus.ERROR, SessionStatus.ERROR),
    ],
)
def test_a_failed_session_takes_no_follow_up_even_when_it_was_to_be_kept(fault, once, kept):
    assert status_after(failed(fault), keep_alive=False) is once
    assert status_after(failed(fault), keep_alive=True) is kept
