"""How runs end that do not end by themselves, and what a session is after any ending."""

from dataclasses import dataclass

from appliance.agent.outcome import Outcome
from appliance.errors import PilothouseError, RunEnding, RunFailed, RunInterrupted, RunStopped
from appliance.events import TokenCount
from appliance.words import Ending, FailureKind, SessionStatus, StopStrategy


@dataclass(frozen=True)
class Halt:
    """An order from outside that ends a run, and the state its session has afterwards."""

    ending: Ending
    status: SessionStatus
    summary: str


STOPS: dict[StopStrategy, Halt] = {
    StopStrategy.TASK: Halt(Ending.STOPPED, SessionStatus.IDLE, "The task was stopped."),
    StopStrategy.SESSION: Halt(Ending.STOPPED, SessionStatus.STOPPED, "The session was stopped."),
}

SHUT_DOWN = Halt(
    Ending.INTERRUPTED,
    SessionStatus.ERROR,
    "The server was stopped while this run was going; what it had done until then is kept.",
)

CRASHED = Halt(
    Ending.INTERRUPTED,
    SessionStatus.ERROR,
    "The server ended without warning while this run was going; what it had done until then is kept.",
)


def halted(halt: Halt) -> Outcome:
    """Return the outcome of a run that was made to end; it has no failure kind, since nothing of its own failed."""
    return _outcome(halt.ending, halt.summary)


def halt_of(halt: Halt) -> RunEnding:
    """Return what the run is told that is made to end."""
    return RunStopped(halt.summary) if halt.ending is Ending.STOPPED else RunInterrupted(halt.summary)


def loss_of(fault: PilothouseError) -> RunEnding:
    """Return what the run is told whose browser is gone."""
    return RunFailed(fault.message, failure=FailureKind.AGENT_FAILURE)


def failed(fault: BaseException) -> Outcome:
    """Return the outcome of a run that a fault ended: its message where it is one of ours, a plain one otherwise."""
    if isinstance(fault, RunEnding):
        return _outcome(fault.ending, fault.message, fault.failure or FailureKind.AGENT_FAILURE, fault.status_code)
    if isinstance(fault, PilothouseError):
        return _outcome(Ending.FAILED, fault.message, FailureKind.AGENT_FAILURE)
    return _outcome(
        Ending.FAILED,
        f"The run ended by a fault of the server ({type(fault).__name__}); its log has the details.",
        FailureKind.AGENT_FAILURE,
    )


def status_after(outcome: Outcome, *, keep_alive: bool) -> SessionStatus:
    """Return what a session is once a run of it has ended by itself."""
    if outcome.ending is Ending.TIMED_OUT:
        return SessionStatus.TIMED_OUT
    if outcome.ending in (Ending.FAILED, Ending.INTERRUPTED):
        return SessionStatus.ERROR
    return SessionStatus.IDLE if keep_alive else SessionStatus.STOPPED


def _outcome(
    ending: Ending, summary: str, failure: FailureKind | None = None, status_code: int | None = None
) -> Outcome:
    return Outcome(
        ending=ending,
        output=None,
        is_successful=False,
        failure=failure,
        status_code=status_code,
        summary=summary,
        steps=0,
        tokens=TokenCount(),
        cost_usd=None,
    )
