"""The page of what was spent: bars by day and by model, a table in any grouping, and the table as CSV."""

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from litestar import Request, Response, get
from litestar.response import Template

from appliance.persistence.records import UsageRecord
from appliance.runtime.assembly import Appliance
from appliance.runtime.usage import USUAL_DAYS
from appliance.words import UsageGroup
from web.pages.crew import count_crew
from web.pages.payer import find_standing
from web.views import page

AnyRequest = Request[Any, Any, Any]
SPANS = (7, USUAL_DAYS, 90)
_TALLEST = 100
_MOST_BARS = 12
_MOST_ROWS = 200
_COLUMNS = (
    *("key", "label", "calls", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"),
    *("cost_usd", "services_usd", "unpriced_calls", "estimated_calls"),
)


@dataclass(frozen=True)
class Bar:
    """A row as a bar; `size` is its share of the longest in hundredths, at least 1 where anything was spent."""

    row: UsageRecord
    size: int


def usage_pages(appliance: Appliance) -> list[Any]:
    """Return the handlers of /usage."""
    return [_show(appliance), _download(appliance)]


def _show(appliance: Appliance) -> Any:
    @get("/usage")
    async def show_usage(request: AnyRequest) -> Template:
        """Show what was spent in the last 7, 30 or 90 days; `by` says how the table groups it."""
        span, group = _read_span(request), _read_group(request)
        team_id = (await find_standing(request, appliance.database)).team_id
        by_day = await appliance.usage.read(UsageGroup.DAY, team_id=team_id, span=span)
        by_model = await appliance.usage.read(UsageGroup.MODEL, team_id=team_id, span=span)
        table = by_day if group is UsageGroup.DAY else await appliance.usage.read(group, team_id=team_id, span=span)
        rows = table.rows[:: -1 if group is UsageGroup.DAY else 1]
        return page(
            request,
            "usage_show",
            report=by_day,
            days=_bars(by_day.rows),
            models=_bars(by_model.rows[:_MOST_BARS]),
            rows=rows[:_MOST_ROWS],
            left_out=max(0, len(rows) - _MOST_ROWS),
            span=span,
            spans=SPANS,
            group=group,
            groups=list(UsageGroup),
            crew=count_crew(appliance),
        )

    return show_usage


def _download(appliance: Appliance) -> Any:
    @get("/usage.csv")
    async def download_usage(request: AnyRequest) -> Response[bytes]:
        """Return the table as CSV."""
        span, group = _read_span(request), _read_group(request)
        team_id = (await find_standing(request, appliance.database)).team_id
        report = await appliance.usage.read(group, team_id=team_id, span=span)
        name = f"usage-{report.first}-{report.last}-by-{group}.csv"
        return Response(
            _write_csv(report.rows),
            media_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"},
        )

    return download_usage


def _bars(rows: tuple[UsageRecord, ...]) -> list[Bar]:
    longest = max((row.cost_usd for row in rows), default=Decimal(0))
    return [Bar(row, _size(row.cost_usd, longest)) for row in rows]


def _size(amount: Decimal, longest: Decimal) -> int:
    return max(1, round(_TALLEST * amount / longest)) if amount > 0 else 0


def _write_csv(rows: tuple[UsageRecord, ...]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        tokens = row.tokens
        counts = (row.calls, tokens.input, tokens.cache_read, tokens.cache_write, tokens.output)
        amounts = (f"{row.cost_usd:f}", f"{row.services_usd:f}")
        writer.writerow((_defuse(row.key), _defuse(row.label), *counts, *amounts, row.unpriced, row.estimated))
    return text.getvalue().encode()


def _defuse(text: str) -> str:
    """Return the text so that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _read_span(request: AnyRequest) -> int:
    asked = request.query_params.get("days", "")
    return next((span for span in SPANS if f"{span}" == asked), USUAL_DAYS)


def _read_group(request: AnyRequest) -> UsageGroup:
    asked = request.query_params.get("by", "")
    return next((group for group in UsageGroup if group == asked), UsageGroup.DAY)
