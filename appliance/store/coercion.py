"""Reads a value as what a field takes where that changes nothing of what it says; everything else is left alone."""

import json
import math
import re
from contextlib import suppress
from typing import Any, cast

from appliance.errors import AnswerRefused
from appliance.store.facts import bare, split_words
from appliance.store.nodes import kind_of
from appliance.store.readings import read_date
from appliance.store.schema import FieldShape
from appliance.surrogates import make_whole

MAX_DEPTH = 40
MAX_VALUE = 200_000
"""Characters that one value may have as JSON."""
MAX_INTEGER = 2**63 - 1
_NULLS = {"null", "none", "n/a", "na", "nil", "undefined", "nan", ""}
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:([ \u00a0\u202f'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?|[-+]?\d{1,3}(?:,\d{3})+\.\d+")
_GROUPED_COMMA = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}")
_GROUPED_POINT = re.compile(r"[-+]?\d{1,3}(?:,\d{3}){2,}")


def make_plain(value: Any, depth: int = 0) -> Any:
    """Return a value as clean JSON: halves of characters replaced, ends of texts trimmed.

    Raises AnswerRefused for what JSON cannot hold: NaN, infinities, what is nested too deep.
    """
    if depth > MAX_DEPTH:
        raise AnswerRefused(f"The value is nested deeper than {MAX_DEPTH} levels; give it flatter.")
    if isinstance(value, str):
        return make_whole(str(value)).strip()
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise AnswerRefused(
            f"{str(value)[:30]}… is larger than readers of JSON keep; give it as text, or in other units."
        )
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise AnswerRefused(f"{value} is no JSON number; give a number, or null for what is not stated.")
        return value
    if isinstance(value, list | tuple):
        return [make_plain(inner, depth + 1) for inner in cast("list[Any]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return {make_whole(str(name)): make_plain(inner, depth + 1) for name, inner in pairs}
    raise AnswerRefused(f"{type(value).__name__} is nothing that JSON can hold; give text, numbers, lists or objects.")


def read_json(text: str) -> Any:
    """Return the value of a JSON text; raises ValueError."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def coerce(field: FieldShape, value: Any) -> Any:
    """Return the value in the type that the field takes, None for what means that there is none.

    What cannot be read without changing what it says comes back as it is.
    """
    if value is None or _is_enough(field, value):
        return value
    if isinstance(value, str):
        return _from_text(field, value)
    if field.choices and isinstance(value, int | float | bool):
        return _choice(field, str(value).lower() if isinstance(value, bool) else str(value), value)
    if "string" in field.kinds and isinstance(value, int | float | bool):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return text if field.accepts(text) else value
    if isinstance(value, float) and value.is_integer() and "integer" in field.kinds:
        return int(value)
    return _alone(field, value)


def _is_enough(field: FieldShape, value: Any) -> bool:
    """Whether the field takes the value as it is; an empty text or "null" may still mean that there is none."""
    if isinstance(value, str) and value.lower() in ("", "null") and value not in field.choices:
        return False
    return field.accepts(value) and not (
        isinstance(value, float) and value.is_integer() and field.kinds == ("integer",)
    )


def _from_text(field: FieldShape, text: str) -> Any:
    if field.choices:
        chosen = _choice(field, text, text)
        if chosen is not text:
            return chosen
    if _means_nothing(field, text):
        return None
    for value in _readings(field, text):
        if field.accepts(value):
            return value
    return _alone(field, text)


def _means_nothing(field: FieldShape, text: str) -> bool:
    lowered = text.lower()
    if "string" in field.kinds or not field.kinds:
        return lowered in ("", "null") and not (lowered == "" and "" in field.choices)
    return lowered in _NULLS


def _readings(field: FieldShape, text: str) -> list[Any]:
    """Return what else a text may be read as, by the types that the field takes."""
    read: list[Any] = []
    if field.format == "date" and (day := read_date(text)) is not None:
        read.append(day.isoformat())
    if {"integer", "number"} & set(field.kinds) and (number := read_numeral(text)) is not None:
        read.append(number)
    if "boolean" in field.kinds and text.lower() in _TRUTHS:
        read.append(_TRUTHS[text.lower()])
    if {"array", "object"} & set(field.kinds) and text[:1] in "[{":
        with suppress(ValueError):
            read.append(make_plain(read_json(text)))
    return read


def _alone(field: FieldShape, value: Any) -> Any:
    """Return a list of the one value where the field takes a list of such."""
    is_broken = isinstance(value, str) and value[:1] in ("[", "{")
    if "array" in field.kinds and not (isinstance(value, list) or is_broken) and field.accepts([value]):
        return [value]
    return cast("Any", value)


def _choice(field: FieldShape, text: str, value: Any) -> Any:
    """Return the one of the allowed values that is spelled like the text, whatever the case and the signs between."""
    plain = bare(text)
    fitting = [choice for choice in field.choices if bare(str(choice)) == plain]
    exact = [choice for choice in fitting if kind_of(choice) == kind_of(value)]
    fitting = exact or fitting
    return fitting[0] if plain and len(fitting) == 1 else value


def read_numeral(text: str) -> int | float | None:
    """Return the number that a text is, however its thousands are parted; None when it could be read in two ways."""
    text = text.strip().replace("−", "-")
    if len(text) > 60:
        return None
    if _GROUPED.fullmatch(text) or _GROUPED_POINT.fullmatch(text):
        commas_part = "," in text and ("." in text or text.count(",") > 1)
        plain = re.sub(r"[ \u00a0\u202f'’]", "", text)
        text = plain.replace(",", "") if commas_part else plain.replace(",", ".")
    elif _GROUPED_COMMA.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text) if abs(int(text)) <= MAX_INTEGER else None
    number = float(text)
    return number if math.isfinite(number) else None


def same_name(wanted: str, names: list[str]) -> str | None:
    """Return the one name that has the same words as the one that was given, None without one."""
    words = split_words(wanted)
    fitting = [name for name in names if split_words(name) == words]
    return fitting[0] if words and len(fitting) == 1 else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
