from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from appliance.money.forecast import elapsed_share, forecast
from appliance.money.windows import window_at
from appliance.words import Period

BERLIN = ZoneInfo("Europe/Berlin")
JUNE = window_at(Period.MONTH, BERLIN, datetime(2026, 6, 10, tzinfo=UTC))


def test_what_is_spent_in_a_third_of_a_month_will_be_three_times_as_much() -> None:
    assert forecast(Decimal("1.50"), JUNE, JUNE.start + timedelta(days=10)) == Decimal("4.50")


def test_there_is_no_forecast_in_the_first_twentieth_and_none_without_an_end() -> None:
    assert forecast(Decimal(1), JUNE, JUNE.start + timedelta(days=1)) is None
    assert forecast(Decimal(1), JUNE, JUNE.start - timedelta(hours=1)) is None
    lifetime = window_at(Period.LIFETIME, BERLIN, JUNE.start)
    assert forecast(Decimal(1), lifetime, JUNE.start) is None
    assert elapsed_share(lifetime, JUNE.start) is None


def test_a_forecast_is_never_less_than_what_is_spent() -> None:
    assert forecast(Decimal("1.234567"), JUNE, JUNE.start + timedelta(days=45)) == Decimal("1.234567")


def test_the_day_on_which_clocks_change_is_half_over_after_half_of_its_real_hours() -> None:
    day = window_at(Period.DAY, BERLIN, datetime(2026, 3, 29, 12, tzinfo=UTC))
    assert elapsed_share(day, day.start + timedelta(hours=11, minutes=30)) == Decimal("0.5")
