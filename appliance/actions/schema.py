"""What a reply must be: its JSON Schema without titles, defaults, nulls and references, and in short for the prompt."""

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from appliance.actions.base import Action

CARD_FIELDS = ("what_i_see", "plan_to_goal", "next_move")
MAX_CHAIN = 8
CALL_MEANING = 'One action: {"name": {its parameters}}, as listed under Actions.'

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


def reply_outline() -> dict[str, Any]:
    """Return the schema as a model reads it whose prompt lists the actions with their parameters: every action once."""
    cards = {name: {"type": "string"} for name in CARD_FIELDS}
    call = {"type": "object", "minProperties": 1, "maxProperties": 1, "description": CALL_MEANING}
    return {
        "type": "object",
        "properties": {
            **cards,
            "action": {"type": "array", "minItems": 1, "maxItems": MAX_CHAIN, "items": call},
        },
        "required": [*CARD_FIELDS, "action"],
        "additionalProperties": False,
    }


@cache
def signature(action: Action[Any]) -> str:
    """Return the parameters of an action in short, `{index: int, text, clear?: bool}`; texts bear no type."""
    required = action.parameters.model_json_schema().get("required", [])
    fields = _parameters_schema(action)["properties"]
    told = (f"{name}{'' if name in required else '?'}{_type_in_short(field)}" for name, field in fields.items())
    return "{" + ", ".join(told) + "}"


def _type_in_short(field: dict[str, Any]) -> str:
    """Return `: int` and the like, nothing for a text."""
    if "enum" in field:
        return ": " + "|".join(map(str, field["enum"]))
    if "anyOf" in field:
        kinds = dict.fromkeys(_type_in_short(choice) or ": text" for choice in field["anyOf"])
        return ": " + "|".join(kind.removeprefix(": ") for kind in kinds)
    if field.get("type") == "array":
        inner = _type_in_short(field.get("items", {})).removeprefix(": ")
        return f": [{inner or 'text'}]"
    kinds = {"integer": ": int", "number": ": number", "boolean": ": bool", "object": ": object", "string": ""}
    return kinds.get(field.get("type", ""), ": any")


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
