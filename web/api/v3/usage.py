"""The call on what was spent."""

from datetime import date
from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from appliance.persistence.records import Payer, UsageRecord
from appliance.runtime.usage import Usage
from appliance.words import UsageGroup
from web.api.v3.renderings import format_amount
from web.api.v3.shapes.usage import UsageRowView, UsageView
from web.problems import PROBLEMS


@get("/usage", responses=PROBLEMS, tags=["money"], summary="See what was spent")
async def get_usage(
    usage: NamedDependency[Usage],
    payer: NamedDependency[Payer | None],
    first: Annotated[
        date | None, QueryParameter(name="from", description="The first day; by default 29 days before the last")
    ] = None,
    last: Annotated[
        date | None, QueryParameter(name="to", description="The last day, included; by default today")
    ] = None,
    group: Annotated[UsageGroup, QueryParameter(name="groupBy")] = UsageGroup.DAY,
) -> UsageView:
    """Return what the key's team spent, in groups; with the bootstrap key, what everybody did.

    By day every day of the team's time zone has a row, else only who spent something, the dearest first and a thousand
    at most.
    """
    report = await usage.read(group, first, last, payer and payer.team_id)
    return UsageView(
        first=report.first,
        last=report.last,
        time_zone=report.time_zone,
        group_by=report.group,
        rows=[_row(row) for row in report.rows],
        total=_row(report.total),
    )


def _row(row: UsageRecord) -> UsageRowView:
    return UsageRowView(
        key=row.key,
        label=row.label,
        calls=row.calls,
        input_tokens=row.tokens.input,
        cache_read_tokens=row.tokens.cache_read,
        cache_write_tokens=row.tokens.cache_write,
        output_tokens=row.tokens.output,
        cost_usd=format_amount(row.cost_usd),
        services_usd=format_amount(row.services_usd),
        unpriced_calls=row.unpriced,
        estimated_calls=row.estimated,
    )
