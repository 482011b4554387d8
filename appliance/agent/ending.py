"""Which ending a fault is for the run that it met; told in one place for runs and replays."""

from appliance.agent.assignment import Assignment
from appliance.errors import ContextOverflow, PilothouseError, RunEnding, RunFailed, RunTimedOut
from appliance.words import FailureKind


def ending_of(fault: Exception, assignment: Assignment, *, is_late: bool = False) -> RunEnding:
    """Return how a run ends that this came out of; `is_late` says that the run's own time is used up."""
    match fault:
        case RunEnding():
            return fault
        case ContextOverflow():
            return RunFailed(fault.message, failure=FailureKind.PROVIDER_ERROR)
        case PilothouseError():
            return failed(fault.message)
        case TimeoutError():
            return timed_out(assignment) if is_late else failed(f"Something took too long: {fault}.")
        case _:
            return failed(f"The run met a fault in our own program ({type(fault).__name__}).")


def timed_out(assignment: Assignment) -> RunTimedOut:
    """Return the ending of a run whose own time is used up."""
    return RunTimedOut(f"The time of {assignment.timeout:g} seconds is used up.")


def failed(message: str) -> RunFailed:
    """Return the ending of a run that its own agent could not bring to a good end."""
    return RunFailed(message, failure=FailureKind.AGENT_FAILURE)
