"""What of a whole answer does not fit its schema, in half a sentence each."""

from collections.abc import Collection, Iterator
from typing import Any

from appliance.store.pointers import escape
from appliance.store.schema import AnswerSchema

_OF_THE_WHOLE = frozenset(
    {"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required", "dependentRequired"}
)
"""Rules that a value which is absent somewhere inside does not break."""


def defects_of(schema: AnswerSchema, answer: Any, absent: Collection[str] = ()) -> Iterator[str]:
    """Yield the defects, each beginning with its place, without those that stem from values which are `absent`.

    These are told by JSON pointer.
    """
    for error in schema.whole.validator.iter_errors(answer):
        if not _is_of(absent, error):
            yield f"{'/'.join(map(str, error.instance_path)) or 'the answer'}: {error.message[:200]}"


def _is_of(absent: Collection[str], error: Any) -> bool:
    """Whether an error is about an absent value, or may be because there is one inside of what it is about."""
    if not absent:
        return False
    place = "".join(f"/{escape(str(step))}" for step in error.instance_path)
    if place in absent:
        return True
    return error.kind.name not in _OF_THE_WHOLE and any(pointer.startswith(f"{place}/") for pointer in absent)
