"""What people are told of caps: which one it is, that it is used up, that it reached a mark, and what to do."""

from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from appliance.errors import CapReached, SpentCap
from appliance.money.caps import SOFT_MARK, Gauge
from appliance.persistence.records import CapRecord
from appliance.words import CapScope, Period

_PER: dict[Period, str] = {
    Period.DAY: "a day",
    Period.WEEK: "a week",
    Period.MONTH: "a month",
    Period.LIFETIME: "in all",
}


def say_money(amount: Decimal) -> str:
    """Return the amount with at least cents and no more digits than it has."""
    digits = f"{amount.normalize():f}"
    whole, _, decimals = digits.partition(".")
    return f"${whole}.{decimals:0<2}"


def say_whose(cap: CapRecord) -> str:
    """Return whose cap it is."""
    if cap.scope is CapScope.INSTANCE:
        return "this instance"
    called = {CapScope.KEY: "the API key", CapScope.MEMBER: "the member", CapScope.TEAM: "the team"}[cap.scope]
    return f"{called} {cap.subject_name}".strip()


def say_period(period: Period) -> str:
    """Return in how long an amount may be spent, as words after it."""
    return _PER[period]


def say_cap(gauge: Gauge) -> str:
    """Return the cap with its amount, such as "the cap of $5.00 a month for the team Harbour"."""
    return f"the cap of {say_money(gauge.limit)} {say_period(gauge.cap.period)} for {say_whose(gauge.cap)}"


def say_reset(gauge: Gauge) -> str:
    """Return when the cap begins anew, half a sentence."""
    if gauge.window.end is None:
        return "never begins anew"
    moment = gauge.window.end.astimezone(ZoneInfo(gauge.cap.time_zone))
    return f"begins anew on {_say_moment(moment)} ({gauge.cap.time_zone})"


def say_remedy(gauge: Gauge) -> str:
    """Return what to do about a cap that is used up."""
    raising = "raise it on the page Budgets or with: pilothouse cap raise"
    return f"To go on, {raising}." if gauge.window.end is None else f"Wait until then, or {raising}."


def say_used_up(gauge: Gauge) -> str:
    """Return that nothing more may be spent, when that changes, and what to do."""
    return f"{_begin(say_cap(gauge))} is used up{_say_spent(gauge)}. It {say_reset(gauge)}."


def say_short(gauge: Gauge, amount: Decimal) -> str:
    """Return that a step of about this amount does not fit any more."""
    if gauge.is_used_up:
        return say_used_up(gauge)
    cents = say_money(max(Decimal("0.01"), amount.quantize(Decimal("0.01"))))
    return (
        f"{_begin(say_cap(gauge))} has no room for a step of about {cents}{_say_spent(gauge)}. It {say_reset(gauge)}."
    )


def say_alert(gauge: Gauge, mark: int) -> str:
    """Return that a mark is reached."""
    if mark == SOFT_MARK:
        soft = f"{say_money(gauge.limit_at(mark))} {say_period(gauge.cap.period)}"
        return f"The soft cap of {soft} for {say_whose(gauge.cap)} is passed: {say_money(gauge.spent)} are spent."
    return f"{mark} % of {say_cap(gauge)} are reached{_say_spent(gauge)}. It {say_reset(gauge)}."


def reached(gauge: Gauge) -> CapReached:
    """Return the refusal of a request that would spend under a cap that is used up."""
    remedy = say_remedy(gauge)
    spent = SpentCap(
        scope=gauge.cap.scope,
        period=gauge.cap.period,
        cap=gauge.limit,
        spent=None if gauge.is_hidden else gauge.spent,
        resets_at=gauge.window.end,
        remedy=remedy,
    )
    return CapReached(f"{say_used_up(gauge)} {remedy}", spent)


def _say_spent(gauge: Gauge) -> str:
    return "" if gauge.is_hidden else f": {say_money(gauge.spent)} are spent"


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def _say_moment(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y at %H:%M}"
