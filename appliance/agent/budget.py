"""What a run may spend in steps, seconds and money, with enough kept back for one turn that hands in the answer.

Every reply is charged, whoever asked for it; what a call costs is told by the price function, None being unknown.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from appliance.agent.assignment import Assignment
from appliance.agent.outcome import Spent
from appliance.errors import MoneySpent, RunEnding, RunFailed, RunTimedOut, StepsSpent
from appliance.events import TokenCount
from appliance.words import FailureKind

STEP_SECONDS = 520.0
_RESERVED_SHARE = 0.1
_MOST_RESERVED_SHARE = 0.5


@dataclass(frozen=True)
class Allowance:
    """What the next step may use. With a `limit` only the answer is asked for, since that limit is near."""

    number: int
    seconds: float
    limit: RunEnding | None = None


class Budget:
    """Counts what one run spends and says what its next step may still use."""

    def __init__(self, assignment: Assignment, price: Callable[[TokenCount], Decimal | None]) -> None:
        self._assignment = assignment
        self._price = price
        self._started = time.monotonic()
        self._steps = 0
        self._tokens = TokenCount()
        self._untold = TokenCount()
        self._cost: Decimal | None = Decimal(0)
        self._cost_before_step = Decimal(0)
        self._dearest_step = Decimal(0)
        self._slowest_call = 0.0
        self._deliveries = 0
        self.limit: RunEnding | None = None

    def start(self) -> None:
        """Begin to count the seconds; until then they count from when this was made."""
        self._started = time.monotonic()

    @property
    def spent(self) -> Spent:
        """What is used up so far."""
        return Spent(self._steps, self._tokens, self._cost)

    def charge(self, tokens: TokenCount, seconds: float) -> None:
        """Count one reply; raises RunFailed when a cap is set and the reply's price is not known."""
        self._tokens += tokens
        self._untold += tokens
        self._slowest_call = max(self._slowest_call, seconds)
        cost = self._price(tokens)
        self._cost = None if cost is None or self._cost is None else self._cost + cost
        if self._cost is None and self._assignment.max_cost_usd is not None:
            raise RunFailed(
                "The price of this model is not known, so its cost cannot be held under maxCostUsd; "
                "leave the cap out or choose another model.",
                failure=FailureKind.AGENT_FAILURE,
            )

    def take_tokens(self) -> TokenCount:
        """Return the tokens that were charged since this was last asked."""
        taken, self._untold = self._untold, TokenCount()
        return taken

    def check_money(self) -> None:
        """Raise MoneySpent when the cap is reached."""
        if self._money_left() <= 0:
            raise self._money_spent()

    def next_step(self, *, answer_refused: bool = False) -> Allowance:
        """Return what the next step may use.

        Raises StepsSpent, MoneySpent or RunTimedOut when there is nothing left, or when the turn for the answer was
        had; if the answer was refused for its form, that turn is given once more.
        """
        self._note_cost_of_step()
        if self.limit is not None and not (answer_refused and self._deliveries < 2):
            raise self.limit
        self.limit = self.limit or self._near_limit()
        self._steps += 1
        if self.limit is None:
            return Allowance(self._steps, min(STEP_SECONDS, self._seconds_left() - self._reserved_seconds()))
        self._deliveries += 1
        return Allowance(self._steps, STEP_SECONDS, self.limit)

    def _near_limit(self) -> RunEnding | None:
        """Return the limit that leaves room for the answer only; raises it when it leaves no room for that either."""
        self.check_money()
        if self._money_left() < self._dearest_step:
            raise self._money_spent()
        if self._money_left() < 2 * self._dearest_step:
            return self._money_spent()
        if self._seconds_left() <= self._reserved_seconds():
            return timed_out(self._assignment)
        steps = self._assignment.max_steps
        if self._steps >= steps:
            raise _steps_spent(steps)
        return _steps_spent(steps) if 1 < steps == self._steps + 1 else None

    def _note_cost_of_step(self) -> None:
        cost = self._cost or Decimal(0)
        self._dearest_step = max(self._dearest_step, cost - self._cost_before_step)
        self._cost_before_step = cost

    def _money_left(self) -> Decimal:
        cap = self._assignment.max_cost_usd
        return Decimal("Infinity") if cap is None else cap - (self._cost or Decimal(0))

    def _seconds_left(self) -> float:
        return self._assignment.timeout - (time.monotonic() - self._started)

    def _reserved_seconds(self) -> float:
        """A tenth of the time, or more when the model is slow, but never more than half of it."""
        timeout = self._assignment.timeout
        return min(_MOST_RESERVED_SHARE * timeout, max(_RESERVED_SHARE * timeout, 1.5 * self._slowest_call))

    def _money_spent(self) -> MoneySpent:
        return MoneySpent(f"The budget of {self._assignment.max_cost_usd} US dollars is used up.")


def timed_out(assignment: Assignment) -> RunTimedOut:
    """Return the ending of a run whose own time is used up."""
    return RunTimedOut(f"The time of {assignment.timeout:g} seconds is used up.")


def _steps_spent(steps: int) -> StepsSpent:
    return StepsSpent(f"The {steps} steps are used up.")
