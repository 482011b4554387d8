"""Turns every error into an HTTP answer of one shape: {"detail": text}, or for wrong fields a list that names each."""

import re
from datetime import datetime
from typing import Any, cast

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    NotFoundException,
    SerializationException,
    ValidationException,
)
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import QueryParameter

from appliance.errors import (
    CapReached,
    MachineFault,
    PilothouseError,
    RequestInvalid,
    RequestRefused,
    TooManyRequests,
)
from appliance.words import CapScope, Period

_log = structlog.get_logger()


class Problem(msgspec.Struct):
    """What went wrong and what to do about it."""

    detail: str


class FieldProblem(msgspec.Struct):
    """One wrong field: `loc` is where it is, such as ["body", "model"], `msg` what to send instead."""

    loc: list[str | int]
    msg: str
    type: str = "value_error"


class FieldProblems(msgspec.Struct):
    """All that is wrong with a request."""

    detail: list[FieldProblem]


class SpendLimit(msgspec.Struct, rename="camel"):
    """A spending cap that is used up, in US dollars; `resetsAt` is null when it never begins anew.

    The `code` is the one that the cloud's client knows, whatever the scope and the period.
    """

    message: str
    cap: float
    spent: float | None
    scope: CapScope
    period: Period
    resets_at: datetime | None
    remedy: str
    code: str = "api_key_monthly_spend_limit_reached"


class SpendProblem(msgspec.Struct):
    """Nothing may be spent."""

    detail: SpendLimit


PROBLEMS: dict[int, ResponseSpec] = {
    400: ResponseSpec(Problem, description="The request cannot be read", generate_examples=False),
    401: ResponseSpec(Problem, description="The API key is missing or wrong", generate_examples=False),
    402: ResponseSpec(SpendProblem, description="A spending cap is used up", generate_examples=False),
    403: ResponseSpec(Problem, description="This key may not do that", generate_examples=False),
    404: ResponseSpec(Problem, description="There is no such thing", generate_examples=False),
    409: ResponseSpec(Problem, description="Not possible in the present state", generate_examples=False),
    422: ResponseSpec(FieldProblems, description="A field is wrong; the list names it", generate_examples=False),
    429: ResponseSpec(Problem, description="Wait for Retry-After seconds", generate_examples=False),
    503: ResponseSpec(Problem, description="The machine cannot do it now", generate_examples=False),
}
"""What any call of the API may answer instead of its result, for the OpenAPI document."""


def answer_problem(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Return the JSON answer for an error; one that nobody foresaw is logged, and told without its details."""
    if isinstance(error, PilothouseError):
        return _answer_own(error)
    if isinstance(error, ValidationException):
        return _answer(422, FieldProblems(_list_wrong_fields(error, _sent_names(request))))
    if isinstance(error, HTTPException) and error.status_code < 500:
        return _answer(error.status_code, Problem(_explain(request, error)), headers=error.headers)
    if isinstance(error, RecursionError):
        return _answer(400, Problem("The body is nested too deeply; send it flatter."))
    _log.error("request failed", method=request.method, path=request.url.path, exc_info=error)
    return _answer(500, Problem("A fault of the server; its log has the details."))


def _answer_own(error: PilothouseError) -> Response[Any]:
    if isinstance(error, RequestInvalid):
        return _answer(422, FieldProblems([FieldProblem(list(error.location), error.message)]))
    if isinstance(error, TooManyRequests):
        return _answer(429, Problem(error.message), headers={"Retry-After": str(error.retry_after)})
    if isinstance(error, CapReached):
        return _answer(error.status_code, SpendProblem(_render_limit(error)))
    if isinstance(error, RequestRefused):
        return _answer(error.status_code, Problem(error.message))
    if isinstance(error, MachineFault):
        return _answer(503, Problem(error.message))
    _log.error("request failed", reason=error.message, exc_info=error)
    return _answer(500, Problem("A fault of the server; its log has the details."))


def _render_limit(error: CapReached) -> SpendLimit:
    reached = error.reached
    return SpendLimit(
        message=error.message,
        cap=float(reached.cap),
        spent=None if reached.spent is None else float(reached.spent),
        scope=reached.scope,
        period=reached.period,
        resets_at=reached.resets_at,
        remedy=reached.remedy,
    )


def _answer(
    status_code: int, body: Problem | FieldProblems | SpendProblem, headers: dict[str, str] | None = None
) -> Response[Any]:
    return Response(body, status_code=status_code, headers=headers, media_type="application/json")


def _explain(request: Request[Any, Any, Any], error: HTTPException) -> str:
    if isinstance(error, NotFoundException) and error.detail in ("", "Not Found"):
        return f"There is nothing at {request.url.path}. The calls are listed at /schema; ids are UUIDs."
    if isinstance(error, MethodNotAllowedException):
        return f"{request.method} is not possible at {request.url.path}. The calls are listed at /schema."
    if isinstance(error.__cause__, SerializationException):
        return f"The body is not JSON: {error.__cause__.detail or error.detail}."
    return error.detail


def _sent_names(request: Request[Any, Any, Any]) -> dict[str, str]:
    """Return how callers call the parameters of the handler that have another name in our code."""
    handler = request.route_handler
    fields = dict(handler.parsed_fn_signature.parameters)
    for dependency in handler.resolve_dependencies().values():
        fields |= dependency.parsed_fn_signature.parameters
    kinds = {key: field.kwarg_definition for key, field in fields.items()}
    return {key: kind.name for key, kind in kinds.items() if isinstance(kind, QueryParameter) and kind.name}


def _list_wrong_fields(error: ValidationException, sent_names: dict[str, str]) -> list[FieldProblem]:
    extra: Any = error.extra
    items = cast("list[dict[str, Any]]", extra) if isinstance(extra, list) else []
    found = [_to_field_problem(item, error.__cause__, sent_names) for item in items]
    return found or [FieldProblem(["body"], error.detail)]


def _to_field_problem(item: dict[str, Any], cause: BaseException | None, sent_names: dict[str, str]) -> FieldProblem:
    """Name the field of one of Litestar's findings; msgspec's own message has the whole path inside a body."""
    source = str(getattr(item.get("source"), "value", item.get("source") or "body"))
    location: list[str | int] = [source]
    path = re.search(r"at `\$\.data\.?([^`]*)`", str(cause)) if source == "body" else None
    if path is not None:
        location += [int(part) if part.isdigit() else part for part in re.findall(r"\w+", path[1])]
    elif item.get("key") not in (None, "data"):
        key = str(item["key"])
        location.append(sent_names.get(key, key) if source == "query" else key)
    expected = str(item.get("message", "")).replace("`", "") or "invalid"
    name = ".".join(str(part) for part in location[1:]) or "The body"
    return FieldProblem(location, f"{name} cannot be used: {expected[0].lower()}{expected[1:]}. Correct it and retry.")
