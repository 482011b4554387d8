"""The plain fields of an output schema: what each is called, of which kind it is, and in which unit."""

from dataclasses import dataclass
from typing import Any, Literal, cast

from appliance.store.facts import split_words
from appliance.store.readings import short_unit

Kind = Literal["string", "number", "integer", "boolean", "strings"]
_KINDS: dict[str, Kind] = {"string": "string", "number": "number", "integer": "integer", "boolean": "boolean"}
_FILLERS = {"the", "a", "an", "value", "text", "of", "in", "field"}


@dataclass(frozen=True)
class Field:
    """One property of the schema's object; `kind` is None when it is not plain. `schema` is the one for its value."""

    name: str
    kind: Kind | None
    schema: dict[str, Any]
    phrases: tuple[tuple[str, ...], ...]
    description: str
    unit: str | None
    is_nullable: bool
    is_required: bool


def read_fields(schema: dict[str, Any]) -> list[Field]:
    """Return the properties of the schema's object; an empty list when the schema is not of an object."""
    root = _resolve(schema, schema)
    properties = root.get("properties")
    if not isinstance(properties, dict):
        return []
    required = cast("list[str]", root.get("required") or [])
    return [
        describe_field(name, cast("dict[str, Any]", part), schema, is_required=name in required)
        for name, part in cast("dict[str, Any]", properties).items()
        if isinstance(part, dict)
    ]


def missing_fields(fields: list[Field], filled: dict[str, Any]) -> list[str]:
    """Return the names of required fields that the object does not have."""
    return [field.name for field in fields if field.is_required and field.name not in filled]


def describe_field(name: str, part: dict[str, Any], root: dict[str, Any], *, is_required: bool) -> Field:
    """Return what a property is; `part` is its schema, `root` the whole document, which references lead into."""
    inner, is_nullable = _without_null(part, root)
    words = [split_words(name), split_words(str(part.get("title") or ""))]
    unit = next((unit for phrase in words if len(phrase) > 1 and (unit := _unit_of(phrase))), None)
    without_unit = [phrase[:-1] for phrase in words if len(phrase) > 1 and _unit_of(phrase)]
    stripped = [tuple(word for word in phrase if word not in _FILLERS) for phrase in (*words, *without_unit)]
    phrases = dict.fromkeys(phrase for phrase in (*words, *without_unit, *stripped) if phrase)
    return Field(
        name=name,
        kind=_kind_of(inner, root),
        schema=inner,
        phrases=tuple(phrases),
        description=str(part.get("description") or inner.get("description") or ""),
        unit=unit,
        is_nullable=is_nullable,
        is_required=is_required,
    )


def _unit_of(phrase: tuple[str, ...]) -> str | None:
    """Return the unit that a name ends with, as in weight_kg; "min" is as often a minimum."""
    return None if phrase[-1] == "min" else short_unit(phrase[-1])


def _resolve(part: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follow local references and single-member allOf."""
    for _ in range(10):
        reference, members = part.get("$ref"), part.get("allOf")
        if isinstance(reference, str) and reference.startswith("#/"):
            target: Any = root
            for step in reference[2:].split("/"):
                target = target.get(step.replace("~1", "/").replace("~0", "~"), {})
            part = {**{key: value for key, value in part.items() if key != "$ref"}, **target}
        elif isinstance(members, list) and len(cast("list[Any]", members)) == 1:
            part = {**{key: value for key, value in part.items() if key != "allOf"}, **members[0]}
        else:
            break
    return part


def _without_null(part: dict[str, Any], root: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    part = _resolve(part, root)
    kinds = part.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        others = [kind for kind in cast("list[str]", kinds) if kind != "null"]
        return {**part, "type": others[0] if len(others) == 1 else others}, True
    for union in ("anyOf", "oneOf"):
        members = [_resolve(member, root) for member in cast("list[dict[str, Any]]", part.get(union) or [])]
        others = [member for member in members if member.get("type") != "null"]
        if len(members) > len(others) == 1:
            return others[0], True
        if len(members) > len(others):
            return part, True
    return part, None in (part.get("enum") or [])


def _kind_of(part: dict[str, Any], root: dict[str, Any]) -> Kind | None:
    kind = part.get("type")
    if kind == "array":
        items = part.get("items")
        inner = _resolve(cast("dict[str, Any]", items), root) if isinstance(items, dict) else {}
        return "strings" if inner.get("type") == "string" else None
    if kind is None and all(isinstance(choice, str | None) for choice in part.get("enum") or [0]):
        return "string"
    return _KINDS.get(kind) if isinstance(kind, str) else None
