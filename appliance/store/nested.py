"""Fields that are objects of their own, such as a price with its currency, filled part by part."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from appliance.errors import SchemaUnusable
from appliance.store.facts import Fact
from appliance.store.fields import Field, Phrase, read_fields
from appliance.store.filling import Filled, fill_fields
from appliance.store.schema import AnswerSchema, FieldShape

_SAYS_LITTLE = {"name", "value", "url", "text", "type", "id", "title", "label", "code", "description", "date", "link"}


def fill_objects(fields: Sequence[Field], facts: list[Fact], base_url: str) -> dict[str, Filled]:
    """Return the objects that the facts state in all that they must have, by the name of the field."""
    found: dict[str, Filled] = {}
    for field in fields:
        if "object" not in field.shape.kinds:
            continue
        inner = fill_fields(_parts(field), facts, base_url)
        value: dict[str, Any] = {name: filled.value for name, filled in inner.items()}
        if value and field.shape.accepts(value):
            found[field.name] = Filled(value, next(iter(inner.values())).fact)
    return found


def _parts(field: Field) -> list[Field]:
    """Return the object's own fields: what says little by itself counts only together with the object's name."""
    return [
        replace(part, phrases=tuple(_with_owner(part.phrases, field.phrases)))
        for part in read_fields(_shapes(field.shape))
    ]


def _with_owner(phrases: tuple[Phrase, ...], owners: tuple[Phrase, ...]) -> list[Phrase]:
    joined = [(*owner, *phrase) for owner in owners for phrase in phrases]
    alone = [phrase for phrase in phrases if not set(phrase) <= _SAYS_LITTLE]
    same = [owner for owner in owners for phrase in phrases if phrase in (("value",), ("amount",))]
    return [*joined, *alone, *same]


@lru_cache(maxsize=256)
def _shapes(shape: FieldShape) -> tuple[FieldShape, ...]:
    try:
        return AnswerSchema.read(shape.schema).fields
    except SchemaUnusable:
        return ()
