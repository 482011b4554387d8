"""Whether a run gets anywhere: the same actions on the same page, again and again, are no progress."""

import msgspec

from appliance.agent.step import Step
from appliance.errors import RunFailed
from appliance.words import FailureKind

NUDGE_AT = 3
GIVE_UP_AT = 8
_REMEMBERED_STEPS = 20
_WAITING = frozenset({"wait", "wait_for"})


class Progress:
    """Counts how often, in the last steps, one and the same thing was tried on one and the same page."""

    def __init__(self) -> None:
        self._tried: list[bytes] = []
        self.repeats = 0

    def note(self, step: Step) -> None:
        """Count a finished step. Raises RunFailed at the eighth equal one; waiting alone is never given up on."""
        self.repeats = 0
        if step.plan is None or step.observation is None:
            return
        calls = [(action.call.name, action.call.arguments) for action in step.plan.actions]
        key = msgspec.json.encode((step.observation.fingerprint, calls), order="deterministic")
        self._tried = [*self._tried[1 - _REMEMBERED_STEPS :], key]
        self.repeats = self._tried.count(key)
        if self.repeats >= GIVE_UP_AT and any(name not in _WAITING for name, _ in calls):
            raise RunFailed(
                f"The agent tried the same thing on the same page {self.repeats} times and got no further.",
                failure=FailureKind.AGENT_FAILURE,
            )

    @property
    def is_stuck(self) -> bool:
        """Whether the agent should be told that it repeats itself."""
        return self.repeats >= NUDGE_AT
