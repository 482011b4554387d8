"""What was spent, in groups: over days of the team's own time zone, both ends included."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from appliance.errors import RequestInvalid
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.records import UsageRecord
from appliance.persistence.teams import find_first_team, find_team
from appliance.persistence.usage import Day, sum_all, sum_by_day, sum_by_group
from appliance.words import UsageGroup

USUAL_DAYS = 30
"""How many days are told of where nobody says."""

MOST_DAYS = 366


@dataclass(frozen=True)
class UsageReport:
    """What was spent from the first day to the last: one row for each group, and everything together.

    By day every day has a row; else only who spent something has one, the dearest first.
    """

    first: date
    last: date
    time_zone: str
    group: UsageGroup
    rows: tuple[UsageRecord, ...]
    total: UsageRecord


class Usage:
    """Reads the ledger for people. `team_id` None stands for all teams, by the days of the first one's zone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self,
        group: UsageGroup = UsageGroup.DAY,
        first: date | None = None,
        last: date | None = None,
        team_id: UUID | None = None,
        span: int = USUAL_DAYS,
    ) -> UsageReport:
        """Return what was spent, by default in `span` days up to the last, which is today where none is named.

        Raises RequestInvalid for days in the wrong order or more than 366 of them.
        """
        async with self._database.read() as transaction:
            team = await (find_first_team(transaction) if team_id is None else find_team(transaction, team_id))
            zone = ZoneInfo(team.time_zone)
            days = _days(first, last, zone, span)
            since, until = days[0].begin, days[-1].end
            if group is UsageGroup.DAY:
                rows = await sum_by_day(transaction, days, team_id)
            else:
                rows = await sum_by_group(transaction, group, since, until, team_id)
            total = await sum_all(transaction, since, until, team_id)
        return UsageReport(days[0].date, days[-1].date, team.time_zone, group, rows, total)


def _days(first: date | None, last: date | None, zone: ZoneInfo, span: int) -> list[Day]:
    """Return the days asked for, at least one."""
    today = utc_now().astimezone(zone).date()
    last = last or (today if first is None else max(today, first))
    first = first or _back(last, span - 1)
    if first > last:
        raise RequestInvalid("from is later than to; give the earlier day first.", "query", "from")
    count = (last - first).days + 1
    if count > MOST_DAYS:
        raise RequestInvalid(f"From {first} to {last} are more than {MOST_DAYS} days; ask in parts.", "query", "from")
    if last == date.max or first == date.min:
        raise RequestInvalid("No calendar goes so far; ask for days on which this server was there.", "query", "from")
    dates = [first + timedelta(days=number) for number in range(count + 1)]
    moments = [datetime.combine(day, time(), zone).astimezone(UTC) for day in dates]
    return [Day(*one) for one in zip(dates[:-1], moments[:-1], moments[1:], strict=True)]


def _back(day: date, days: int) -> date:
    return day - timedelta(days=days) if (day - date.min).days > days else date.min
