"""The JSON Schema of a reply, kept small since every request carries it: no titles, defaults, nulls, references."""

from collections.abc import Sequence
from typing import Any, cast

from appliance.actions.base import Action

CARD_FIELDS = ("what_i_see", "plan_to_goal", "next_move")
MAX_CHAIN = 8

_KEPT = ("type", "enum", "minimum", "maximum", "minItems", "maxItems", "description")


def reply_schema(actions: Sequence[Action[Any]]) -> dict[str, Any]:
    """Return the schema of a whole reply: three sentences and a list of one to eight one-key action objects."""
    cards = {name: {"type": "string"} for name in CARD_FIELDS}
    chain = {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_CHAIN,
        "items": {"anyOf": [_call_schema(action) for action in actions]},
    }
    return {
        "type": "object",
        "properties": {**cards, "action": chain},
        "required": [*CARD_FIELDS, "action"],
        "additionalProperties": False,
    }


def signature(action: Action[Any]) -> str:
    """Return the parameters of an action in the short form `{index, text, clear?}`."""
    fields = action.parameters.model_fields.items()
    return "{" + ", ".join(name if field.is_required() else f"{name}?" for name, field in fields) + "}"


def _call_schema(action: Action[Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {action.name: _parameters_schema(action)},
        "required": [action.name],
    }


def _parameters_schema(action: Action[Any]) -> dict[str, Any]:
    full = action.parameters.model_json_schema()
    properties: dict[str, Any] = {name: _compact(field) for name, field in full.get("properties", {}).items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if full.get("required"):
        schema["required"] = full["required"]
    return schema


def _compact(field: dict[str, Any]) -> dict[str, Any]:
    """Keep what a model needs of a field's schema: a field that may be null is one that may be left out."""
    choices = [cast("dict[str, Any]", choice) for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        field = {**field, **choices[0]}
    compact = {key: field[key] for key in _KEPT if key in field}
    if len(choices) > 1:
        compact["anyOf"] = [_compact(choice) for choice in choices]
    if "items" in field:
        compact["items"] = _compact(field["items"])
    return compact
