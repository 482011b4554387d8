"""Reads forms: text fields by name, and a task form as a wish."""

import json
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from litestar import Request

from appliance.errors import RequestInvalid, RequestRefused
from appliance.runtime.wishes import SessionWish
from appliance.words import Effort

_MOST_STEPS = 1000
_MAYBE_THOUSANDS = re.compile(r"[1-9]\d{0,2},\d{3}")
_FIELDS = {"outputSchema": "schema", "maxCostUsd": "max_cost", "maxSteps": "max_steps", "reasoningEffort": "effort"}


async def read_fields(request: Request[Any, Any, Any], *names: str) -> tuple[str, ...]:
    """Return the form's text fields, "" for those that are missing or no text."""
    form = await request.form()
    values = (form.get(name) for name in names)
    return tuple(value if isinstance(value, str) else "" for value in values)


@dataclass(frozen=True)
class TaskForm:
    """The fields of the page for a new task, as typed."""

    task: str = ""
    model: str = ""
    max_steps: str = ""
    max_cost: str = ""
    effort: str = ""
    schema: str = ""
    keep_alive: bool = False

    @property
    def uses_more(self) -> bool:
        """Whether a field under "More" is filled."""
        return bool(self.max_steps or self.max_cost or self.effort or self.schema or self.keep_alive)

    def to_wish(self) -> SessionWish:
        """Return what is asked for; raises RequestInvalid naming the first field that cannot be read."""
        return SessionWish(
            task=self.task,
            model=self.model or None,
            effort=Effort(self.effort) if self.effort in list(Effort) else None,
            keep_alive=self.keep_alive or None,
            max_cost_usd=_read_cost(self.max_cost),
            output_schema=read_schema(self.schema),
            max_steps=_read_steps(self.max_steps),
        )


async def read_task_form(request: Request[Any, Any, Any]) -> TaskForm:
    """Return the form as it was sent."""
    names = ("task", "model", "max_steps", "max_cost", "effort", "schema")
    task, model, *more = await read_fields(request, *names, "keep_alive")
    steps, cost, effort, schema, keep = (value.strip() for value in more)
    return TaskForm(
        task=task.replace("\r\n", "\n").strip(),
        model=model,
        max_steps=steps,
        max_cost=cost,
        effort=effort,
        schema=schema,
        keep_alive=keep == "yes",
    )


def read_schema(text: str) -> dict[str, Any] | None:
    """Return the JSON Schema that was typed, None for none; raises RequestInvalid saying where the JSON breaks."""
    if not text.strip():
        return None
    try:
        schema = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise RequestInvalid(
            f"This is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", "body", "schema"
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "it has a number that is too long"
        raise RequestInvalid(f"This cannot be used as a schema: {reason}.", "body", "schema") from error
    if not isinstance(schema, dict):
        raise RequestInvalid('A schema is a JSON object, such as {"type": "object", …}.', "body", "schema")
    return cast("dict[str, Any]", schema)


def name_errors(error: RequestRefused) -> dict[str, str]:
    """Return the error's sentence under the field of the form it belongs to, else under "other"."""
    field = error.location[-1] if isinstance(error, RequestInvalid) and error.location else ""
    field = _FIELDS.get(field, field)
    known = ("task", "model", "max_steps", "max_cost", "effort", "schema")
    return {field if field in known else "other": error.message}


def read_dollars(text: str) -> Decimal:
    """Return the amount that was typed, with a point or a comma before the cents.

    Raises InvalidOperation for what is no number, and for a comma before three digits: in some countries that is a
    thousand times as much.
    """
    amount = text.strip().lstrip("$ ")
    if _MAYBE_THOUSANDS.fullmatch(amount):
        raise InvalidOperation
    return Decimal(amount.replace(",", "."))


def _refuse_constant(name: str) -> None:
    raise RequestInvalid(f"This is not JSON: {name} is no number there.", "body", "schema")


def _read_steps(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 7 and 1 <= int(text) <= _MOST_STEPS):
        raise RequestInvalid(f"Give a whole number from 1 to {_MOST_STEPS}.", "body", "max_steps")
    return int(text)


def _read_cost(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        cost = read_dollars(text)
    except InvalidOperation as error:
        raise RequestInvalid("Give an amount in dollars, such as 0.50 or 1200.", "body", "max_cost") from error
    if not cost.is_finite() or not Decimal("0.0001") <= cost <= Decimal(1_000_000):
        raise RequestInvalid("Give an amount in dollars, such as 0.50 or 1200.", "body", "max_cost")
    return cost
