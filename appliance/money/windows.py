"""When a period of a cap began and when the next one begins, in the time zone of those it is for.

A day begins at its midnight, a week on Monday, a month on the first, whatever the clocks of the zone do meanwhile. Of a
midnight that is struck twice the first counts; one that is skipped is the moment at which it is skipped.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from appliance.errors import RequestInvalid
from appliance.words import Period

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""Where a lifetime begins."""

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Window:
    """A stretch of time in UTC, with its first moment and without its last; without an `end` it goes on for ever."""

    start: datetime
    end: datetime | None


def read_zone(name: str) -> ZoneInfo:
    """Return the time zone of an IANA name; raises RequestInvalid for one that is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"There is no time zone {name[:60]!r}; write one such as Europe/Berlin or UTC."
        raise RequestInvalid(message, "body", "timeZone") from error


def window_at(period: Period, zone: ZoneInfo, moment: datetime) -> Window:
    """Return the window of the period that an aware moment lies in."""
    if period is Period.LIFETIME:
        return Window(BEGINNING, None)
    first = _first_day(period, moment.astimezone(zone).date())
    # Where clocks jump over midnight, the date of the moment may be one that has not begun, or is over.
    while _midnight(first, zone) > moment:
        first = _first_day(period, first - _DAY)
    while _midnight(following := _next_first(period, first), zone) <= moment:
        first = following
    return Window(_midnight(first, zone), _midnight(following, zone))


def _first_day(period: Period, day: date) -> date:
    """Return the day that the day's period begins with."""
    if period is Period.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if period is Period.MONTH else day


def _next_first(period: Period, first: date) -> date:
    if period is Period.MONTH:
        return (first + timedelta(days=31)).replace(day=1)
    return first + timedelta(days=7 if period is Period.WEEK else 1)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
