"""Turns a wish into what a session shall be: model, effort and limits checked, everything else taken over."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from appliance.addresses import DomainPattern
from appliance.errors import RequestInvalid, SchemaUnusable
from appliance.models.catalog import ModelEntry, choose_effort, wire_name_for
from appliance.models.prices import is_priced
from appliance.models.providers import ProviderKeys, choose_default, find_model
from appliance.persistence.records import SessionRecord
from appliance.persistence.sessions import SessionChanges
from appliance.runtime.allowance import scale
from appliance.runtime.price_list import PriceList
from appliance.runtime.wishes import SessionWish
from appliance.sensitive import SensitiveData

_TITLE_LENGTH = 80
_MOST_DOMAINS = 200


@dataclass(frozen=True)
class ModelRules:
    """Which models may be chosen, by the keys there are and the setting DEFAULT_MODEL, and what scales money caps."""

    keys: ProviderKeys
    default_model: str = ""
    cost_factor: Decimal = Decimal(1)
    prices: PriceList | None = None

    def is_priced(self, entry: ModelEntry) -> bool:
        """Say whether a cap in money can be held for the model."""
        return is_priced(entry) if self.prices is None else self.prices.is_priced(entry)


def choose(wish: SessionWish, rules: ModelRules, current: SessionRecord | None = None) -> SessionChanges:
    """Return what the wish makes of a new session, or what it changes about `current`.

    Raises RequestInvalid naming the field: an unknown model, one without a key, an effort it cannot do, a money
    limit for a model without a price, half a screen size, a schema that is none.
    """
    _check_shape(wish)
    entry = _choose_entry(wish, rules, current)
    changes = SessionChanges()
    if current is None or wish.model is not None:
        changes["model"] = entry.name
        changes["wire_model"] = wire_name_for(wish.model, entry)
    changes.update(_choose_effort(wish, entry, current))
    if wish.max_cost_usd is not None or (wish.model is not None and current and current.max_cost_usd is not None):
        require_price(entry, rules)
    changes.update(_take_over(wish))
    if wish.max_cost_usd is not None:
        changes["max_cost_usd"] = scale(wish.max_cost_usd, rules.cost_factor)
    return changes


def make_title(task: str) -> str:
    """Return the first line of the task, shortened at a word."""
    line = next((line for line in task.splitlines() if line.strip()), "")
    words = re.sub(r"\s+", " ", line).strip()
    if len(words) <= _TITLE_LENGTH:
        return words
    return words[:_TITLE_LENGTH].rsplit(" ", 1)[0].rstrip(",;:-") + "…"


def _choose_entry(wish: SessionWish, rules: ModelRules, current: SessionRecord | None) -> ModelEntry:
    if wish.model is not None:
        return find_model(wish.model, rules.keys)
    if current is not None:
        return find_model(current.model, rules.keys)
    return choose_default(rules.keys, rules.default_model)


def _choose_effort(wish: SessionWish, entry: ModelEntry, current: SessionRecord | None) -> SessionChanges:
    if wish.effort is not None or wish.thinking_level is not None:
        effort = choose_effort(entry, wish.effort, wish.thinking_level)
        return SessionChanges(effort=effort, thinking_level=wish.thinking_level)
    if wish.clears_thinking:
        return SessionChanges(effort=None, thinking_level=None)
    if current is not None and wish.model is not None and current.effort not in (None, *entry.efforts):
        return SessionChanges(effort=entry.nearest_effort(current.effort), thinking_level=None)
    return SessionChanges()


def _take_over(wish: SessionWish) -> SessionChanges:
    """Return the fields that were said and need no choice."""
    said: dict[str, Any] = {
        "keep_alive": wish.keep_alive,
        "output_schema": wish.output_schema,
        "max_steps": wish.max_steps,
        "timeout": wish.timeout,
        "system_prompt_extension": wish.system_prompt_extension,
        "screen_width": wish.screen_width,
        "screen_height": wish.screen_height,
        "allowed_domains": None if wish.allowed_domains is None else _read_domains(wish.allowed_domains),
        "warnings": wish.warnings or None,
        "workspace_id": wish.workspace_id,
        "profile_id": wish.profile_id,
    }
    return cast("SessionChanges", {name: value for name, value in said.items() if value is not None})


def _check_shape(wish: SessionWish) -> None:
    if wish.task is not None and not wish.task.strip():
        raise RequestInvalid("The task is empty; say what is to be done.", "body", "task")
    if wish.session_id is not None and wish.task is None:
        raise RequestInvalid("A follow-up needs a task; send task beside sessionId.", "body", "task")
    if (wish.screen_width is None) != (wish.screen_height is None):
        missing = "browserScreenWidth" if wish.screen_width is None else "browserScreenHeight"
        raise RequestInvalid("Screen width and height go together; send both or neither.", "body", missing)
    if wish.output_schema is not None:
        check_schema(wish.output_schema)


def _read_domains(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns in their plainest spelling; raises RequestInvalid naming the first that is none."""
    if len(patterns) > _MOST_DOMAINS:
        message = f"allowedDomains has more than {_MOST_DOMAINS} entries; use *.example.com for subdomains."
        raise RequestInvalid(message, "body", "allowedDomains")
    read: list[str] = []
    for pattern in patterns:
        try:
            read.append(str(DomainPattern.parse(pattern)))
        except ValueError as error:
            message = f"allowedDomains cannot hold {pattern[:100]!r}: {error}; write example.com, *.example.com, "
            message += "example.com:8080 or https://example.com."
            raise RequestInvalid(message, "body", "allowedDomains") from error
    return tuple(dict.fromkeys(read))


def read_secrets(document: Mapping[str, Any], allowed_domains: tuple[str, ...]) -> SensitiveData:
    """Return the secrets of a request or a session; raises RequestInvalid, which repeats none of them."""
    try:
        return SensitiveData.read(document, allowed_domains)
    except ValueError as error:
        raise RequestInvalid(f"sensitiveData cannot be used, {error}; correct it.", "body", "sensitiveData") from error


def check_schema(schema: dict[str, Any]) -> None:
    """Raise RequestInvalid when the document is no JSON Schema that can be used."""
    # What reads schemas loads a compiled library that a server without any never needs.
    from appliance.store.schema import AnswerSchema  # noqa: PLC0415

    try:
        AnswerSchema.read(schema)
    except SchemaUnusable as error:
        raise RequestInvalid(
            f"outputSchema is not a usable JSON Schema: {error.message}; correct it.", "body", "outputSchema"
        ) from error


def require_price(entry: ModelEntry, rules: ModelRules, field: str = "maxCostUsd") -> None:
    """Raise RequestInvalid, naming the field, for a model whose price is not known."""
    if not rules.is_priced(entry):
        raise RequestInvalid(
            f"The price of {entry.name} is not known, so maxCostUsd cannot be kept; leave it out, name another model, "
            f"or say what this one costs: pilothouse price set {entry.name}.",
            "body",
            field,
        )
