"""The page of caps: how each stands, drawn as a gauge; forms to set one, to raise it for a while, to remove it."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from litestar import Request, Response, get, post
from litestar.params import FromPath
from litestar.response import Redirect, Template

from appliance.errors import NotAllowed, RequestInvalid, RequestRefused
from appliance.money.caps import Gauge
from appliance.money.sentences import say_period, say_reset, say_whose
from appliance.persistence.columns import utc_now
from appliance.persistence.keys import list_keys
from appliance.persistence.teams import list_teams
from appliance.persistence.users import list_users
from appliance.runtime.assembly import Appliance
from appliance.runtime.caps import CapWish
from appliance.words import CapScope, Period
from web.pages.crew import count_crew
from web.pages.forms import read_dollars, read_fields
from web.pages.payer import find_standing
from web.views import page

AnyRequest = Request[Any, Any, Any]
_DAYS = {"1": 1, "7": 7, "31": 31}
_LAST_MARK = Decimal("99.2")
_FIELDS = {"hardUsd": "hard", "softUsd": "soft", "subjectId": "subject"}


@dataclass(frozen=True)
class Dial:
    """A gauge as it is drawn: positions in hundredths of its width, None for a mark that it does not have."""

    gauge: Gauge
    whose: str
    period: str
    reset: str
    spent: Decimal
    limit: Decimal
    soft: Decimal | None
    forecast: Decimal | None

    @property
    def tone(self) -> str:
        """The word of the style: good, trouble from four fifths or the soft cap on, bad when all is spent."""
        gauge = self.gauge
        if gauge.share >= 1:
            return "bad"
        is_near = gauge.share >= Decimal("0.8") or (gauge.soft is not None and gauge.spent >= gauge.soft)
        return "trouble" if is_near else "good"


def budget_pages(appliance: Appliance) -> list[Any]:
    """Return the handlers of /budgets."""
    return [_show(appliance), _set(appliance), _raise(appliance), _remove(appliance)]


def _show(appliance: Appliance) -> Any:
    @get("/budgets")
    async def show_budgets(request: AnyRequest) -> Template:
        """Show all caps, or those of the person's team."""
        return await _page(request, appliance, {}, {})

    return show_budgets


def _set(appliance: Appliance) -> Any:
    @post("/budgets", status_code=303)
    async def set_budget(request: AnyRequest) -> Response[Any]:
        """Set a cap, or show what has to be corrected."""
        await _require_manager(request, appliance)
        subject, period, hard, soft = await read_fields(request, "subject", "period", "hard", "soft")
        form = {"subject": subject, "period": period, "hard": hard, "soft": soft}
        try:
            await appliance.caps.set(_read_wish(subject, period, hard, soft))
        except RequestRefused as error:
            location = error.location[-1] if isinstance(error, RequestInvalid) and error.location else "other"
            return await _page(request, appliance, form, {_FIELDS.get(location, location): error.message}, error)
        return Redirect("/budgets", status_code=303)

    return set_budget


def _raise(appliance: Appliance) -> Any:
    @post("/budgets/{cap_id:uuid}/raise", status_code=303)
    async def raise_budget(request: AnyRequest, cap_id: FromPath[UUID]) -> Redirect:
        """Raise the cap for some days."""
        await _require_manager(request, appliance)
        amount, days = await read_fields(request, "amount", "days")
        until = utc_now() + timedelta(days=_DAYS.get(days, 1))
        await appliance.caps.raise_until(cap_id, _read_amount(amount, "amount") or Decimal(0), until)
        return Redirect("/budgets", status_code=303)

    return raise_budget


def _remove(appliance: Appliance) -> Any:
    @post("/budgets/{cap_id:uuid}/remove", status_code=303)
    async def remove_budget(request: AnyRequest, cap_id: FromPath[UUID]) -> Redirect:
        """Take the cap away."""
        await _require_manager(request, appliance)
        await appliance.caps.remove(cap_id)
        return Redirect("/budgets", status_code=303)

    return remove_budget


async def _page(
    request: AnyRequest,
    appliance: Appliance,
    form: dict[str, str],
    errors: dict[str, str],
    error: RequestRefused | None = None,
) -> Template:
    async with appliance.database.read() as transaction:
        teams = await list_teams(transaction)
        people, keys = await list_users(transaction), await list_keys(transaction)
    standing = await find_standing(request, appliance.database)
    gauges = await appliance.caps.list_gauges(standing.team_id)
    subjects = (
        ("Teams", [(f"team:{team.id}", team.name) for team in teams]),
        ("Members", [(f"member:{user.id}", user.email) for user in people]),
        ("API keys", [(f"key:{key.id}", key.name) for key in keys if key.revoked_at is None]),
    )
    return page(
        request,
        "budgets",
        status_code=200 if error is None else error.status_code,
        dials=[_draw(gauge) for gauge in gauges],
        subjects=subjects,
        periods=list(Period),
        form={"subject": "instance:", "period": "month", "hard": "", "soft": "", **form},
        errors={**dict.fromkeys(("subject", "hard", "soft", "other"), ""), **errors},
        may_change=standing.may_change_caps,
        crew=count_crew(appliance),
    )


def _draw(gauge: Gauge) -> Dial:
    scale = max(gauge.limit, min(max(gauge.spent, gauge.forecast or Decimal(0)), gauge.limit * 2))

    def place(amount: Decimal) -> Decimal:
        return min(Decimal(100), amount * 100 / scale).quantize(Decimal("0.1"))

    def mark(amount: Decimal) -> Decimal:
        return min(_LAST_MARK, place(amount))

    return Dial(
        gauge=gauge,
        whose=say_whose(gauge.cap),
        period=say_period(gauge.cap.period),
        reset=say_reset(gauge),
        spent=place(gauge.spent),
        limit=place(gauge.limit),
        soft=None if gauge.soft is None or gauge.hard is None else mark(gauge.soft),
        forecast=None if gauge.forecast is None else mark(gauge.forecast),
    )


async def _require_manager(request: AnyRequest, appliance: Appliance) -> None:
    if not (await find_standing(request, appliance.database)).may_change_caps:
        raise NotAllowed("Caps are changed by owners and admins of the first team; ask one of them.")


def _read_wish(subject: str, period: str, hard: str, soft: str) -> CapWish:
    scope, _, subject_id = subject.partition(":")
    try:
        named = UUID(subject_id) if subject_id else None
        scope, period = CapScope(scope), Period(period)
    except ValueError as error:
        raise RequestInvalid("Choose one of the list.", "body", "subject") from error
    return CapWish(scope, period, _read_amount(hard, "hardUsd"), _read_amount(soft, "softUsd"), named)


def _read_amount(text: str, field: str) -> Decimal | None:
    if not text.strip():
        return None
    try:
        return read_dollars(text)
    except InvalidOperation as error:
        raise RequestInvalid("Give an amount in dollars, such as 2.50 or 1200.", "body", field) from error
