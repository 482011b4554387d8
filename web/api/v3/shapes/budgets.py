"""The JSON of caps on spending. Amounts are US dollars; in answers they are text, so that no digit is lost."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct

from appliance.words import CapScope, Period

Amount = Annotated[str, Meta(max_length=40)] | float


class BudgetRequest(Struct, rename="camel", kw_only=True):
    """A cap as it shall be. At `hardUsd` nothing more is spent, at `softUsd` people are told; one of them is needed."""

    scope: CapScope
    period: Period
    subject_id: Annotated[UUID | None, Meta(description="of the key, member or team; none for the instance")] = None
    hard_usd: Amount | None = None
    soft_usd: Amount | None = None


class RaiseRequest(Struct, rename="camel", kw_only=True):
    """How much is added to both limits of a cap, and until when."""

    amount_usd: Amount
    until: Annotated[datetime, Meta(tz=True, description="with its offset from UTC")]


class BudgetView(Struct, rename="camel", kw_only=True):
    """A cap and how it stands. `limitUsd` is what holds now, raise included: the hard limit, else the soft one.

    `share` is how much of that is spent, 1 being all of it; `resetsAt` is null for a cap that never begins anew, and
    `forecastUsd` while it is too early to tell what will be spent by then.
    """

    id: UUID
    scope: CapScope
    subject_id: UUID | None
    subject_name: str
    period: Period
    time_zone: str
    hard_usd: str | None
    soft_usd: str | None
    limit_usd: str
    spent_usd: str
    share: float
    is_used_up: bool
    window_start: datetime
    resets_at: datetime | None
    forecast_usd: str | None
    raise_usd: str | None
    raise_until: datetime | None
    updated_at: datetime


class BudgetListView(Struct, rename="camel", kw_only=True):
    """All caps, the first made first."""

    budgets: list[BudgetView]
