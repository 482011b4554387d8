"""The JSON of what was spent."""

from datetime import date

from msgspec import Struct


class UsageRowView(Struct, rename="camel", kw_only=True):
    """What one group of calls comes to; amounts are plain decimals.

    `key` is a date, a name, a word or an id, empty for what belongs to no member or key. `costUsd` leaves out the
    `unpricedCalls`, and includes `servicesUsd`, which went to other services than models. `estimatedCalls` were given
    up, or their reply did not tell what they used.
    """

    key: str
    label: str
    calls: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    cost_usd: str
    services_usd: str
    unpriced_calls: int
    estimated_calls: int


class UsageView(Struct, rename={"first": "from", "last": "to", "time_zone": "timeZone", "group_by": "groupBy"}):
    """What was spent on the days from `from` to `to`, both included, in the team's time zone."""

    first: date
    last: date
    time_zone: str
    group_by: str
    rows: list[UsageRowView]
    total: UsageRowView
