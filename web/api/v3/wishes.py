"""Reads a request for a session: what is asked for, what does nothing here (warned about), what is refused."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, TypeVar, cast, get_args

from msgspec import UNSET

from appliance.errors import RequestInvalid
from appliance.persistence.records import FieldWarning, Payer
from appliance.runtime.wishes import SessionWish, ThinkingLevel
from appliance.words import Effort, StopStrategy
from web.api.v3.shapes.sessions import RunTaskRequest, StopRequest

W = TypeVar("W", bound=StrEnum)

_LARGEST_COST = Decimal(1_000_000)
_FINEST_COST = Decimal("1e-12")

_INERT: Mapping[str, str] = {
    "skills": "Nothing is learnt per domain here; the task runs without it.",
    "agentmail": "There is no inbox here; the agent has no e-mail address.",
    "enable_scheduled_tasks": "The agent cannot make recurring tasks here.",
    "enable_recording": "No recording is made; watch the session at its liveUrl, or look at its screenshots.",
    "callback_url": "Nothing is posted when the session ends; read the session until its status is final.",
}


def read_wish(request: RunTaskRequest, payer: Payer | None = None) -> SessionWish:
    """Return what is asked for and who pays; raises RequestInvalid naming a field."""
    _refuse_what_is_missing_here(request)
    level = _read_thinking_level(request)
    return SessionWish(
        task=None if request.task is None else _fill_brackets(request.task),
        session_id=request.session_id,
        model=request.model,
        effort=_read_word(request.reasoning_effort, Effort, "reasoningEffort"),
        thinking_level=level,
        clears_thinking=request.thinking_level is None,
        keep_alive=request.keep_alive,
        max_cost_usd=_read_cost(request.max_cost_usd),
        output_schema=request.output_schema,
        max_steps=request.max_steps,
        timeout=request.timeout,
        system_prompt_extension=request.system_prompt_extension,
        screen_width=request.browser_screen_width,
        screen_height=request.browser_screen_height,
        allowed_domains=None if request.allowed_domains is None else tuple(request.allowed_domains),
        sensitive_data=request.sensitive_data,
        warnings=_list_warnings(request),
        payer=payer,
        workspace_id=request.workspace_id,
        profile_id=request.profile_id,
    )


def read_strategy(request: StopRequest | None) -> StopStrategy:
    """Return what a stop request ends: the whole session unless it says otherwise."""
    if request is None or request.strategy is None:
        return StopStrategy.SESSION
    return _read_word(request.strategy, StopStrategy, "strategy") or StopStrategy.SESSION


def _refuse_what_is_missing_here(request: RunTaskRequest) -> None:
    """Refuse what would change the result if it were silently left out."""
    refusals: tuple[tuple[str, Any, str], ...] = (
        ("cacheScript", request.cache_script, "Scripts are not cached here; leave cacheScript out."),
        ("codeMode", request.code_mode, "The agent returns answers, not code, here; leave codeMode out."),
        (
            "proxyCountryCode",
            request.proxy_country_code,
            "No proxy is configured for any country; leave proxyCountryCode out or send null.",
        ),
    )
    for name, value, message in refusals:
        if value:
            raise RequestInvalid(message, "body", name)


def _list_warnings(request: RunTaskRequest) -> tuple[FieldWarning, ...]:
    names = dict(zip(request.__struct_fields__, request.__struct_encode_fields__, strict=True))
    return tuple(
        FieldWarning(names[name], "has_no_effect", message)
        for name, message in _INERT.items()
        if getattr(request, name)
    )


def _read_thinking_level(request: RunTaskRequest) -> ThinkingLevel | None:
    level = request.thinking_level
    if level is None or level is UNSET:
        return None
    if level not in get_args(ThinkingLevel):
        raise _unknown_word(str(level), get_args(ThinkingLevel), "thinkingLevel")
    return cast("ThinkingLevel", level)


def _read_word(value: str | None, vocabulary: type[W], name: str) -> W | None:
    if value is None:
        return None
    if value not in set(vocabulary):
        raise _unknown_word(value, tuple(vocabulary), name)
    return vocabulary(value)


def _unknown_word(value: str, known: tuple[str, ...], name: str) -> RequestInvalid:
    return RequestInvalid(f"{name} cannot be {value[:50]!r}; send one of {', '.join(known)}.", "body", name)


def _read_cost(cost: str | float | None) -> Decimal | None:
    if cost is None:
        return None
    try:
        amount = Decimal(str(cost).strip())
    except InvalidOperation as error:
        raise RequestInvalid("maxCostUsd is no decimal number; send one such as 0.50.", "body", "maxCostUsd") from error
    if not amount.is_finite() or not 0 < amount <= _LARGEST_COST:
        message = f"maxCostUsd is an amount in US dollars above 0, {_LARGEST_COST} at most; correct it or leave it out."
        raise RequestInvalid(message, "body", "maxCostUsd")
    if amount != amount.quantize(_FINEST_COST):
        raise RequestInvalid("maxCostUsd has more than 12 decimals; round it.", "body", "maxCostUsd")
    return amount


def _fill_brackets(task: str) -> str:
    """Return the task as a person would write it: the cloud's `@{{value}}` marks the variable parts of a script."""
    return re.sub(r"@\{\{(.*?)\}\}", r"\1", task, flags=re.DOTALL)
