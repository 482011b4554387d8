"""How caps stand and whether an amount still fits: pure decisions over caps, what was spent and what is held back.

All caps of a payer must fit: key, member, team and instance. Of several that do not, the narrowest is named.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from appliance.errors import RequestInvalid
from appliance.money.forecast import forecast
from appliance.money.windows import Window
from appliance.persistence.records import CapRecord, Payer
from appliance.words import CapScope, Period

LEAST_USD, MOST_USD = Decimal("0.0001"), Decimal(1_000_000)
"""What a cap or a raise can be."""

LONGEST_RAISE = timedelta(days=1100)
"""How long a raise can last at most."""

MARKS = (50, 80, 100)
"""The percentages of a hard cap that people are told of."""

SOFT_MARK = 0
"""Stands for the soft cap in the place of a percentage."""

_MICRO_DOLLAR = Decimal("0.000001")
_SCOPES = tuple(CapScope)
_PERIODS = tuple(Period)


@dataclass(frozen=True)
class Gauge:
    """How a cap stands at the moment `at`: what was `spent` in its window and what is `held` for steps under way.

    With `is_hidden` whoever reads of it is not told what was spent.
    """

    cap: CapRecord
    window: Window
    at: datetime
    spent: Decimal
    held: Decimal = Decimal(0)
    is_hidden: bool = False

    @property
    def raised(self) -> Decimal:
        """The US dollars by which both limits are raised now."""
        cap = self.cap
        if cap.raise_usd is None or cap.raise_until is None or self.at >= cap.raise_until:
            return Decimal(0)
        return cap.raise_usd

    @property
    def hard(self) -> Decimal | None:
        """The limit that holds now; None for a cap that only warns."""
        return None if self.cap.hard_usd is None else self.cap.hard_usd + self.raised

    @property
    def soft(self) -> Decimal | None:
        """The amount from which on people are told."""
        return None if self.cap.soft_usd is None else self.cap.soft_usd + self.raised

    @property
    def limit(self) -> Decimal:
        """The hard limit, else the soft one."""
        limit = self.soft if self.hard is None else self.hard
        return Decimal(0) if limit is None else limit

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more may be spent."""
        return self.hard is not None and self.spent >= self.hard

    @property
    def share(self) -> Decimal:
        """How much of the limit is spent; 1 is all of it."""
        return self.spent / self.limit if self.limit else Decimal(1)

    @property
    def forecast(self) -> Decimal | None:
        """What will be spent by the end of the window, None where that cannot be told."""
        return forecast(self.spent, self.window, self.at)

    def fits(self, amount: Decimal) -> bool:
        """Whether the amount fits in beside what is spent and held."""
        return self.hard is None or self.spent + self.held + amount <= self.hard

    def marks(self) -> tuple[int, ...]:
        """Return the marks that are reached by now, SOFT_MARK among them where there is a soft cap."""
        hard, soft = self.hard, self.soft
        reached = [] if hard is None else [mark for mark in MARKS if self.spent * 100 >= hard * mark]
        if soft is not None and self.spent >= soft:
            reached.insert(0, SOFT_MARK)
        return tuple(reached)

    def limit_at(self, mark: int) -> Decimal:
        """Return the amount that a mark stands for or is a percentage of."""
        limit = self.soft if mark == SOFT_MARK else self.hard
        return self.limit if limit is None else limit


def seen_by(gauge: Gauge, payer: Payer) -> Gauge:
    """Return the gauge as it is told to who pays: by the key of a team, not what all teams have spent together."""
    is_hidden = gauge.cap.scope is CapScope.INSTANCE and payer.key_id is not None
    return replace(gauge, is_hidden=is_hidden)


def narrowest(gauges: Iterable[Gauge]) -> Gauge | None:
    """Return the gauge of the narrowest cap: key before member, team and instance, then the shortest period."""
    return min(gauges, key=lambda one: (_SCOPES.index(one.cap.scope), _PERIODS.index(one.cap.period)), default=None)


def find_used_up(gauges: Iterable[Gauge]) -> Gauge | None:
    """Return the narrowest of the caps that are used up."""
    return narrowest(gauge for gauge in gauges if gauge.is_used_up)


def find_short(gauges: Iterable[Gauge], amount: Decimal) -> Gauge | None:
    """Return the narrowest of the caps that the amount does not fit into."""
    return narrowest(gauge for gauge in gauges if not gauge.fits(amount))


def check_amount(amount: Decimal, field: str) -> Decimal:
    """Return the amount in US dollars; raises RequestInvalid naming the field for one that no cap can have."""
    if not amount.is_finite() or not LEAST_USD <= amount <= MOST_USD:
        raise RequestInvalid(f"{field} is an amount in US dollars from {LEAST_USD} to {MOST_USD:,}.", "body", field)
    if amount != amount.quantize(_MICRO_DOLLAR):
        raise RequestInvalid(f"{field} has more than six decimals; round it.", "body", field)
    return amount


def check_limits(hard: Decimal | None, soft: Decimal | None, *, names: tuple[str, str] = ("hard", "soft")) -> None:
    """Raise RequestInvalid unless there is a limit, each can be one, and the soft one lies below the hard one."""
    if hard is None and soft is None:
        raise RequestInvalid(f"A cap needs an amount: send {names[0]}, {names[1]} or both.", "body", names[0])
    for amount, name in zip((hard, soft), names, strict=True):
        if amount is not None:
            check_amount(amount, name)
    if hard is not None and soft is not None and soft > hard:
        raise RequestInvalid(f"{names[1]} is higher than {names[0]}, so it would never tell anybody.", "body", names[1])


def check_raise(
    amount: Decimal, until: datetime, now: datetime, *, names: tuple[str, str] = ("amount", "until")
) -> None:
    """Raise RequestInvalid unless the amount can be added to a cap until that moment."""
    check_amount(amount, names[0])
    if until <= now:
        raise RequestInvalid(f"{names[1]} is over already; name a later moment.", "body", names[1])
    if until - now > LONGEST_RAISE:
        raise RequestInvalid(f"{names[1]} is years away; set the cap itself higher instead.", "body", names[1])
