"""The fields that values are looked for: what each is called, in which unit it is, and as what it can be read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from appliance.store.facts import split_words
from appliance.store.readings import short_unit
from appliance.store.schema import FieldShape

Kind = Literal["number", "integer", "boolean", "string", "strings"]
Phrase = tuple[str, ...]
_KINDS: tuple[Kind, ...] = ("number", "integer", "boolean", "string")
_FILLERS = {"the", "a", "an", "value", "text", "of", "in", "field"}


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a schema.

    `phrases` are what it may be called, as words in the singular; `unit` is the one its name ends with, if any.
    `kinds` is what its value can be read as, in the order to try; none for objects and lists of them.
    """

    shape: FieldShape
    phrases: tuple[Phrase, ...]
    description: str
    unit: str | None
    kinds: tuple[Kind, ...]

    @property
    def name(self) -> str:
        """The name of the property."""
        return self.shape.name


def read_fields(shapes: Iterable[FieldShape]) -> list[Field]:
    """Return what the properties of an object are."""
    return [_read_field(shape) for shape in shapes]


def _read_field(shape: FieldShape) -> Field:
    words = [split_words(shape.name), split_words(str(shape.schema.get("title") or ""))]
    unit = next((unit for phrase in words if len(phrase) > 1 and (unit := _unit_of(phrase))), None)
    without_unit = [phrase[:-1] for phrase in words if len(phrase) > 1 and _unit_of(phrase)]
    stripped = [tuple(word for word in phrase if word not in _FILLERS) for phrase in (*words, *without_unit)]
    phrases = dict.fromkeys(phrase for phrase in (*words, *without_unit, *stripped) if phrase)
    return Field(shape, tuple(phrases), str(shape.schema.get("description") or ""), unit, _kinds_of(shape))


def _kinds_of(shape: FieldShape) -> tuple[Kind, ...]:
    if "array" in shape.kinds:
        return ("strings",) if _takes_texts(shape.schema) else ()
    if not shape.kinds:
        return ("string",)
    return tuple(kind for kind in _KINDS if kind in shape.kinds)


def _takes_texts(schema: dict[str, Any]) -> bool:
    items = schema.get("items")
    return isinstance(items, dict) and "properties" not in items


def _unit_of(phrase: Phrase) -> str | None:
    """Return the unit that a name ends with, as in weight_kg; "min" is as often a minimum."""
    return None if phrase[-1] == "min" else short_unit(phrase[-1])
