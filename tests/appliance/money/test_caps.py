from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from appliance.errors import RequestInvalid
from appliance.money.caps import Gauge, check_amount, check_limits, check_raise, find_short, find_used_up
from appliance.money.sentences import reached, say_alert, say_cap, say_money, say_short
from appliance.money.windows import window_at
from appliance.persistence.ids import new_id
from appliance.persistence.records import CapRecord
from appliance.words import CapScope, Period

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
ZONE = "Europe/Berlin"


def gauge(spent: str, hard: str | None = "1", soft: str | None = None, **values: Any) -> Gauge:
    held = Decimal(values.pop("held", 0))
    base: dict[str, Any] = {
        "scope": CapScope.TEAM,
        "period": Period.MONTH,
        "subject_name": "Harbour",
        "time_zone": ZONE,
        **values,
    }
    cap = CapRecord(
        id=new_id(),
        subject_id=new_id(),
        hard_usd=None if hard is None else Decimal(hard),
        soft_usd=None if soft is None else Decimal(soft),
        created_at=NOW,
        updated_at=NOW,
        **base,
    )
    return Gauge(cap, window_at(cap.period, ZoneInfo(ZONE), NOW), NOW, Decimal(spent), held)


def test_an_amount_fits_up_to_the_last_micro_dollar_beside_what_is_spent_and_held() -> None:
    assert gauge("0.5", held="0.3").fits(Decimal("0.2"))
    assert not gauge("0.5", held="0.3").fits(Decimal("0.200001"))
    assert gauge("7", hard=None, soft="1").fits(Decimal(100))


def test_the_narrowest_cap_that_does_not_fit_is_named() -> None:
    free = gauge("0", scope=CapScope.KEY)
    member = gauge("1", scope=CapScope.MEMBER, period=Period.LIFETIME)
    member_today = gauge("1", scope=CapScope.MEMBER, period=Period.DAY)
    instance = gauge("2", scope=CapScope.INSTANCE)
    assert find_used_up([instance, member, free, member_today]) is member_today
    assert find_short([instance, free], Decimal("0.5")) is instance
    assert find_short([instance, free], Decimal(2)) is free
    assert find_used_up([free, gauge("9", hard=None, soft="1")]) is None


def test_a_raise_counts_until_it_is_over_and_not_at_that_moment() -> None:
    until = NOW + timedelta(hours=1)
    raised = gauge("1.2", soft="0.8", raise_usd=Decimal("0.5"), raise_until=until)
    assert (raised.hard, raised.soft, raised.is_used_up) == (Decimal("1.5"), Decimal("1.3"), False)
    over = gauge("1.2", soft="0.8", raise_usd=Decimal("0.5"), raise_until=NOW)
    assert (over.hard, over.soft, over.is_used_up) == (Decimal(1), Decimal("0.8"), True)


def test_marks_are_reached_at_half_at_four_fifths_at_all_of_it_and_at_the_soft_cap() -> None:
    assert gauge("0.499999").marks() == ()
    assert gauge("0.5").marks() == (50,)
    assert gauge("0.8", soft="0.7").marks() == (0, 50, 80)
    assert gauge("1.7", soft="0.7").marks() == (0, 50, 80, 100)
    assert gauge("1.7", hard=None, soft="2").marks() == ()
    assert gauge("2", hard=None, soft="2").marks() == (0,)


@pytest.mark.parametrize(
    "amount", ["NaN", "sNaN", "Infinity", "-Infinity", "0", "-1", "1e9", "0.00001", "0.1234567", f"1.{0:028d}1"]
)
def test_an_amount_that_no_cap_can_have_is_refused_by_its_field(amount: str) -> None:
    with pytest.raises(RequestInvalid, match="soft") as refused:
        check_amount(Decimal(amount), "soft")
    assert refused.value.location == ("body", "soft")


@pytest.mark.parametrize("amount", ["0.0001", "1000000", "5", "1E+2", "0.123456"])
def test_an_amount_that_a_cap_can_have_stays_as_it_is(amount: str) -> None:
    assert check_amount(Decimal(amount), "hard") == Decimal(amount)


def test_a_cap_needs_an_amount_and_its_soft_one_is_not_the_higher_one() -> None:
    check_limits(Decimal(2), Decimal(2))
    check_limits(None, Decimal(2))
    with pytest.raises(RequestInvalid, match="needs an amount"):
        check_limits(None, None)
    with pytest.raises(RequestInvalid, match="softUsd is higher than hardUsd"):
        check_limits(Decimal(1), Decimal(2), names=("hardUsd", "softUsd"))


def test_a_raise_lasts_into_the_future() -> None:
    check_raise(Decimal(1), NOW + timedelta(seconds=1), NOW)
    with pytest.raises(RequestInvalid, match="until is over already"):
        check_raise(Decimal(1), NOW, NOW)


def test_a_cap_is_told_by_whose_it_is_how_much_how_long_and_what_to_do() -> None:
    refusal = reached(gauge("1.02"))
    assert refusal.message == (
        "The cap of $1.00 a month for the team Harbour is used up: $1.02 are spent. It begins anew on 1 July 2026 at "
        "00:00 (Europe/Berlin). Wait until then, or raise it on the page Budgets or with: pilothouse cap raise."
    )
    assert (refusal.reached.cap, refusal.reached.spent) == (Decimal(1), Decimal("1.02"))
    assert refusal.reached.resets_at == datetime(2026, 6, 30, 22, tzinfo=UTC)
    lifetime = gauge("2", scope=CapScope.INSTANCE, period=Period.LIFETIME)
    assert say_cap(lifetime) == "the cap of $1.00 in all for this instance"
    assert "It never begins anew. To go on, raise it" in reached(lifetime).message


def test_a_step_that_does_not_fit_and_a_mark_are_told_in_a_sentence() -> None:
    short = say_short(gauge("0.95"), Decimal("0.1234"))
    assert short.startswith("The cap of $1.00 a month for the team Harbour has no room for a step of about $0.12: ")
    assert say_short(gauge("1"), Decimal(1)).startswith("The cap of $1.00 a month for the team Harbour is used up")
    assert say_alert(gauge("0.81"), 80).startswith("80 % of the cap of $1.00 a month for the team Harbour are reached")
    soft = say_alert(gauge("0.81", soft="0.7"), 0)
    assert soft == "The soft cap of $0.70 a month for the team Harbour is passed: $0.81 are spent."


def test_money_is_told_with_cents_and_no_more_digits_than_it_has() -> None:
    said = [say_money(Decimal(amount)) for amount in ("1", "1.5", "0.123456", "1E+3", "0.10")]
    assert said == ["$1.00", "$1.50", "$0.123456", "$1000.00", "$0.10"]
