"""Schemas of answers."""

from collections.abc import Sequence
from typing import Any

TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def list_schema(
    fields: dict[str, Any], required: Sequence[str] = (), *, name: str = "items", own: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the schema of a list of items with these fields; the list and `own` fields of the answer are required."""
    item = {"type": "object", "properties": fields, "required": list(required)}
    properties = {name: {"type": "array", "items": item}, **(own or {})}
    return {"type": "object", "properties": properties, "required": list(properties)}
