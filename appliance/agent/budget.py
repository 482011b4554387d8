"""What a run may spend in steps, seconds and money, with enough kept back for one turn that hands in the answer.

Every reply is charged, whoever asked for it; what a call costs is told by the price function, None being unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from appliance.agent.assignment import Assignment
from appliance.agent.ending import timed_out
from appliance.agent.outcome import Spent
from appliance.errors import MoneySpent, RunEnding, RunFailed, StepsSpent
from appliance.events import Charge, TokenCount, services_of
from appliance.pause import Pause
from appliance.words import FailureKind, Purpose

_SERVICE = "capsolver"
"""What a run may pay for beside its model."""

_RESERVED_SHARE = 0.1
_MOST_RESERVED_SHARE = 0.5
_SHORT_RUN_RESERVE = 30.0
"""Seconds that a run shorter than ten times that keeps at most, however slow its model is."""

_FIRST_STEP = TokenCount(input=12_000, output=1_000)
"""What the first step of a run takes, the goal included: the instructions, one page and a reply."""


def no_price_list() -> str:
    """Return that no price list is known."""
    return ""


@dataclass(frozen=True)
class Allowance:
    """What the next step may use: seconds until everything must stop. With a `limit` it may only hand in the answer."""

    number: int
    seconds: float
    limit: RunEnding | None = None


class Budget:
    """Counts what one run spends and says what its next step may still use; its seconds are those of `pause`.

    Each charge is priced by itself, since long calls may cost more a token. `model` is whose calls are charged,
    `price_version` names the price list that is asked.
    `limit` is why the answer is asked for early, once it is.
    """

    def __init__(
        self,
        assignment: Assignment,
        price: Callable[[TokenCount], Decimal | None],
        pause: Pause | None = None,
        *,
        model: str = "",
        price_version: Callable[[], str] = no_price_list,
    ) -> None:
        self._assignment = assignment
        self._price = price
        self._model = model
        self._price_version = price_version
        self._charges: list[Charge] = []
        self._taken = 0
        self._pause = pause or Pause()
        self._started = self._pause.time()
        self._steps = 0
        self._tokens = TokenCount()
        self._services = Decimal(0)
        self._replies = 0
        self._replied = 0
        self._estimated_calls = 0
        self._cost: Decimal | None = Decimal(0)
        self._known_cost = Decimal(0)
        self._cost_before_step = Decimal(0)
        self._last_step = Decimal(0)
        self._slowest_call = 0.0
        self._is_delivering = False
        self.limit: RunEnding | None = None

    def start(self) -> None:
        """Begin to count the seconds; until then they count from when this was made."""
        self._started = self._pause.time()

    @property
    def spent(self) -> Spent:
        """What is used up so far."""
        return Spent(self._steps, self._tokens, self._cost, self._estimated_calls, self._services)

    @property
    def is_delivering(self) -> bool:
        """Whether the step that hands in the answer has begun."""
        return self._is_delivering and self.limit is not None

    @property
    def usual_step(self) -> Decimal | None:
        """The US dollars of an average step so far, before the first those of one like most; None without a price."""
        if self._cost is None:
            return None
        return self._average_step() if self._steps else self._price(_FIRST_STEP)

    @property
    def usual_output(self) -> int:
        """The output tokens of an average reply of this run so far, 0 before the first."""
        return self._replied // self._replies if self._replies else 0

    def is_free(self, tokens: TokenCount) -> bool:
        """Whether a call of so many tokens is known to cost nothing, or nobody knows what it costs."""
        return not self._price(tokens)

    def charge(
        self, tokens: TokenCount, seconds: float, purpose: Purpose = Purpose.STEP, *, is_estimated: bool = False
    ) -> None:
        """Count one reply; raises RunFailed when a cap is set and the reply's price is not known."""
        self._replies += 1
        self._estimated_calls += is_estimated
        self._replied += tokens.output
        self._slowest_call = max(self._slowest_call, seconds)
        self._charge_call(tokens, purpose, is_estimated=is_estimated)
        if self._cost is None and self._assignment.max_cost_usd is not None:
            raise RunFailed(
                "The price of this model is not known, so its cost cannot be held under maxCostUsd; "
                "leave the cap out or choose another model.",
                failure=FailureKind.AGENT_FAILURE,
            )

    def charge_unanswered(self, tokens: TokenCount, purpose: Purpose = Purpose.STEP) -> None:
        """Count the estimated tokens of a call that was given up, which its provider bills all the same."""
        self._estimated_calls += 1
        self._charge_call(tokens, purpose, is_estimated=True)

    def charge_service(self, amount: Decimal) -> None:
        """Count US dollars that a service other than the model cost; a negative amount takes back."""
        self._add(Charge(Purpose.CAPTCHA, _SERVICE, cost_usd=amount))

    def _charge_call(self, tokens: TokenCount, purpose: Purpose, *, is_estimated: bool = False) -> None:
        cost, version = self._price(tokens), self._price_version()
        self._add(Charge(purpose, self._model, tokens, cost, is_estimated, version))

    def _add(self, charge: Charge) -> None:
        if charge.tokens == TokenCount() and charge.cost_usd == 0:
            return
        self._charges.append(charge)
        self._tokens += charge.tokens
        self._services += services_of([charge])
        self._known_cost += charge.cost_usd or Decimal(0)
        self._cost = None if charge.cost_usd is None or self._cost is None else self._cost + charge.cost_usd

    def affords(self, tokens: TokenCount) -> bool:
        """Whether a call of about so many tokens leaves enough for the turn that hands in the answer."""
        average = self._average_step()
        kept = average + max(average, self._last_step) + (self._price(tokens) or Decimal(0))
        return self.money_left() >= kept and self.seconds_left() > self._slowest_call

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Everything that was charged so far."""
        return tuple(self._charges)

    @property
    def known_cost(self) -> Decimal:
        """The US dollars of everything that was charged so far; charges without a known price are left out."""
        return self._known_cost

    def take_charges(self) -> tuple[Charge, ...]:
        """Return what was charged since this was last asked."""
        taken, self._taken = tuple(self._charges[self._taken :]), len(self._charges)
        return taken

    def check_money(self) -> None:
        """Raise MoneySpent when the cap is reached."""
        if self.money_left() <= 0:
            raise self._money_spent()

    def call_for_answer(self, limit: RunEnding) -> None:
        """Let the next step be the one that hands in the answer; `limit` is how the run ends if it does not."""
        self.limit = self.limit or limit

    def next_step(self) -> Allowance:
        """Return what the next step may use; to be called when the one before is over.

        Raises StepsSpent or MoneySpent when there is nothing left, and the limit itself when the turn for the answer
        was had.
        """
        self._note_cost_of_step()
        if self._is_delivering and self.limit is not None:
            raise self.limit
        self._check_what_is_left()
        self.limit = self.limit or self._near_limit()
        self._is_delivering = self.limit is not None
        self._steps += 1
        return Allowance(self._steps, self.seconds_left(), self.limit)

    @property
    def has_room(self) -> bool:
        """Whether a step may still follow that need not be the one for the answer."""
        is_last = self._steps >= self._assignment.max_steps
        return self.limit is None and not is_last and self._near_limit() is None

    def seconds_left(self) -> float:
        """Return the seconds until the turn for the answer begins; in that turn, until the run ends."""
        left = self._assignment.timeout - (self._pause.time() - self._started)
        return left if self._is_delivering else left - self._reserved_seconds()

    def _check_what_is_left(self) -> None:
        self.check_money()
        if self.money_left() < self._average_step():
            raise self._money_spent()
        if self._steps >= self._assignment.max_steps:
            raise _steps_spent(self._assignment.max_steps)

    def _near_limit(self) -> RunEnding | None:
        """Return the limit that leaves room for the answer only, if one does."""
        average = self._average_step()
        if self.money_left() < average + max(average, self._last_step):
            return self._money_spent()
        if self.seconds_left() <= 0:
            return timed_out(self._assignment)
        steps = self._assignment.max_steps
        return _steps_spent(steps) if 1 < steps == self._steps + 1 else None

    def _note_cost_of_step(self) -> None:
        cost = self._cost or Decimal(0)
        self._last_step = cost - self._cost_before_step
        self._cost_before_step = cost

    def _average_step(self) -> Decimal:
        return (self._cost or Decimal(0)) / self._steps if self._steps else Decimal(0)

    def money_left(self) -> Decimal:
        """Return the US dollars that may still be spent; infinite without a cap."""
        cap = self._assignment.max_cost_usd
        return Decimal("Infinity") if cap is None else cap - (self._cost or Decimal(0))

    def _reserved_seconds(self) -> float:
        """A tenth of the time; of a short run up to 30 s when the model is slow, but never more than half of it."""
        timeout = self._assignment.timeout
        share = _RESERVED_SHARE * timeout
        most = min(_MOST_RESERVED_SHARE * timeout, _SHORT_RUN_RESERVE)
        return max(share, min(most, 1.5 * self._slowest_call))

    def _money_spent(self) -> MoneySpent:
        if not self._assignment.max_cost_usd:
            return MoneySpent("The session has spent all it may cost already; name a higher maxCostUsd to go on.")
        return MoneySpent(f"The budget of {self._assignment.max_cost_usd} US dollars is used up.")


def _steps_spent(steps: int) -> StepsSpent:
    return StepsSpent(f"The {steps} steps are used up.")
