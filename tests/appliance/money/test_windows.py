from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import RequestInvalid
from appliance.money.windows import BEGINNING, Window, read_zone, window_at
from appliance.words import Period

ZONES = (
    *("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"),
    *("America/Havana", "Asia/Beirut", "Africa/Cairo", "America/Santiago", "Pacific/Kwajalein", "Asia/Gaza"),
    *("America/Sao_Paulo", "Atlantic/Azores", "Antarctica/Troll", "America/Scoresbysund", "America/Toronto"),
)
MOMENTS = st.timedeltas(timedelta(days=400), timedelta(days=43_000)).map(lambda since: BEGINNING + since)
PERIODS = st.sampled_from([Period.DAY, Period.WEEK, Period.MONTH])


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def window(period: Period, zone: str, moment: str) -> Window:
    return window_at(period, ZoneInfo(zone), at(moment))


@given(PERIODS, st.sampled_from(ZONES), MOMENTS)
def test_every_moment_lies_in_its_window_and_windows_leave_no_gap(period: Period, zone: str, moment: datetime) -> None:
    this = window_at(period, ZoneInfo(zone), moment)
    assert this.end is not None
    assert this.start <= moment < this.end
    assert window_at(period, ZoneInfo(zone), this.start) == this
    assert window_at(period, ZoneInfo(zone), this.end - timedelta(microseconds=1)) == this
    following = window_at(period, ZoneInfo(zone), this.end)
    assert following.start == this.end
    assert following != this


@given(PERIODS, st.sampled_from(ZONES), MOMENTS, st.timedeltas(timedelta(0), timedelta(days=40)))
def test_a_clock_that_is_set_back_never_leads_into_a_later_window(
    period: Period, zone: str, moment: datetime, back: timedelta
) -> None:
    earlier, later = (window_at(period, ZoneInfo(zone), one) for one in (moment - back, moment))
    assert earlier == later or (earlier.end is not None and earlier.end <= later.start)


@given(st.sampled_from(ZONES), MOMENTS)
def test_a_window_lasts_as_long_as_its_period_give_or_take_a_days_shift(zone: str, moment: datetime) -> None:
    lengths = {Period.DAY: (0, 2), Period.WEEK: (6, 8), Period.MONTH: (27, 32)}
    for period, (least, most) in lengths.items():
        this = window_at(period, ZoneInfo(zone), moment)
        assert this.end is not None
        assert timedelta(days=least) < this.end - this.start <= timedelta(days=most)


def test_a_day_with_a_change_of_clocks_is_an_hour_shorter_or_longer() -> None:
    spring = window(Period.DAY, "Europe/Berlin", "2026-03-29 12:00")
    assert spring == Window(at("2026-03-28 23:00"), at("2026-03-29 22:00"))
    autumn = window(Period.DAY, "Europe/Berlin", "2026-10-25 12:00")
    assert autumn == Window(at("2026-10-24 22:00"), at("2026-10-25 23:00"))


def test_a_week_begins_on_monday_and_a_month_on_the_first() -> None:
    week = window(Period.WEEK, "America/New_York", "2026-11-01 20:00")
    assert week == Window(at("2026-10-26 04:00"), at("2026-11-02 05:00"))
    month = window(Period.MONTH, "America/New_York", "2026-11-01 03:59")
    assert month == Window(at("2026-10-01 04:00"), at("2026-11-01 04:00"))
    assert window(Period.MONTH, "UTC", "2028-02-29 23:59") == Window(at("2028-02-01 00:00"), at("2028-03-01 00:00"))


def test_a_midnight_that_is_skipped_is_the_moment_of_the_skip_and_of_two_the_first_counts() -> None:
    skipped = window(Period.DAY, "Asia/Beirut", "2022-03-27 12:00")
    assert skipped.start == at("2022-03-26 22:00")
    twice = window(Period.DAY, "America/Havana", "2026-11-01 12:00")
    assert twice == Window(at("2026-11-01 04:00"), at("2026-11-02 05:00"))
    left_out = window(Period.DAY, "Pacific/Apia", "2011-12-30 10:00")
    assert left_out == Window(at("2011-12-30 10:00"), at("2011-12-31 10:00"))


def test_a_lifetime_never_ends() -> None:
    assert window(Period.LIFETIME, "Europe/Berlin", "2026-03-29 12:00") == Window(BEGINNING, None)


@pytest.mark.parametrize("name", ["", "Berlin", "../etc/passwd", "Europe/Berlin\0", "x" * 500, "/etc/localtime"])
def test_a_time_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(RequestInvalid, match="time zone"):
        read_zone(name)
