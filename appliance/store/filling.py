"""The filling of plain fields from the facts of a page.

Nothing is made up: a fact counts for a field when its name, the field's title or the head of its description says so,
when it can be read as the field's type in one way only, and when the schema accepts it.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin, urlsplit

from appliance.store.concepts import CONCEPTS
from appliance.store.facts import Fact, Value, split_words
from appliance.store.fields import Field
from appliance.store.readings import (
    CURRENCY_UNITS,
    find_currency,
    find_unit,
    read_date,
    read_moment,
    read_number,
    read_truth,
)

_HEAD_END = re.compile(
    r"\s+(?:in|as|at|including|shown|given|listed|stated)\b|\s*[,.;:()]|\s*$"
    r"|\s+of (?:the|this|a|an) (?:\w+ )?(?:product|item|article|page|book|recipe|event|job|offer)\b",
    re.IGNORECASE,
)


def fill_fields(fields: list[Field], facts: list[Fact], schema: dict[str, Any], base_url: str) -> dict[str, Any]:
    """Return the object: what the facts state; else null where that is allowed, and nothing where it is not."""
    filled: dict[str, Any] = {}
    for field in fields:
        value = _find_value(field, facts, schema, base_url)
        if value is not None:
            filled[field.name] = value
        elif field.is_nullable:
            filled[field.name] = None
    return filled


def _find_value(field: Field, facts: list[Fact], schema: dict[str, Any], base_url: str) -> Any:
    if field.kind is None:
        return None
    accepts = _validator(field, schema)
    paid_in = _currency_of(facts)
    for fact in _candidates(field, facts):
        if field.unit in CURRENCY_UNITS and paid_in not in (None, field.unit):
            return None
        value = _read_as(field, fact, base_url)
        if value is not None and accepts(value):
            return value
    return None


def _currency_of(facts: list[Fact]) -> str | None:
    named = (str(fact.value).lower() for fact in facts if fact.words[-2:] == ("price", "currency"))
    return next((code for code in named if code in CURRENCY_UNITS), None)


def _validator(field: Field, schema: dict[str, Any]) -> Any:
    import jsonschema_rs  # noqa: PLC0415  (only needed with a schema)

    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    return jsonschema_rs.validator_for({**field.schema, **shared}, validate_formats=True, offline=True).is_valid


def _candidates(field: Field, facts: list[Fact]) -> Iterator[Fact]:
    """Yield the facts that are about the field, most fitting first: by its names, then by its description's head."""
    for phrases in (set(field.phrases), _head_phrases(field.description, facts)):
        concepts = [(names, keys) for names, keys in CONCEPTS if phrases & names]
        aliases = phrases.union(*(names for names, _ in concepts))
        for source in ("linked", "meta", "labelled", "page"):
            there = [fact for fact in facts if fact.source == source]
            yield from (fact for _, keys in concepts for key in keys for fact in there if fact.key == key)
            wanted = aliases if source == "labelled" else phrases
            yield from (fact for fact in there if fact.words in wanted and source != "page")


def _head_phrases(description: str, facts: list[Fact]) -> set[tuple[str, ...]]:
    """Return the known phrases that a description begins with, as "Price in euros" begins with "price"."""
    known = {phrase for names, _ in CONCEPTS for phrase in names} | {fact.words for fact in facts}
    head = re.sub(r"^\s*(?:the|an?)\s+", "", description, flags=re.IGNORECASE)
    for end in _HEAD_END.finditer(head):
        words = split_words(head[: end.start()])
        if words:
            return {words} & known
    return set()


def _read_as(field: Field, fact: Fact, base_url: str) -> Any:
    value = fact.value
    if field.kind == "strings":
        return _as_list(value)
    if isinstance(value, tuple):
        if field.kind != "string" or not value:
            return None
        value = value[0] if field.schema.get("format") in ("uri", "url") or len(value) == 1 else ", ".join(value)
    if field.kind == "boolean":
        return value if isinstance(value, bool) else read_truth(str(value))
    if field.kind in ("number", "integer"):
        return _as_number(field, value, is_exact=fact.source in ("linked", "meta"))
    return _as_text(field, value, base_url)


def _as_list(value: Value) -> list[str] | None:
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, str):
        return None
    separator = ";" if ";" in value else ","
    return [part.strip() for part in value.split(separator) if part.strip()]


def _as_number(field: Field, value: Value, *, is_exact: bool) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number: Decimal | None = Decimal(str(value))
    else:
        unit = find_unit(str(value))
        if field.unit and unit and field.unit != unit:
            return None
        plain = str(value).strip()
        number = Decimal(plain) if is_exact and re.fullmatch(r"-?\d+(?:\.\d+)?", plain) else read_number(plain)
    if number is None:
        return None
    if field.kind == "integer":
        return int(number) if number == number.to_integral_value() else None
    return int(number) if number == number.to_integral_value() and "." not in str(number) else float(number)


def _as_text(field: Field, value: Value, base_url: str) -> str | None:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    choices = field.schema.get("enum")
    if choices:
        return next((choice for choice in choices if choice is not None and _plain(choice) == _plain(text)), None)
    form = field.schema.get("format")
    if form == "date":
        day = read_date(text)
        return day.isoformat() if day else None
    if form == "date-time":
        return read_moment(text)
    if form in ("uri", "url", "iri", "uri-reference"):
        address = urljoin(base_url, text)
        return address if urlsplit(address).scheme in ("http", "https") and " " not in text else None
    if any("currency" in phrase for phrase in field.phrases) and not re.fullmatch(r"[A-Z]{3}", text):
        return find_currency(text)
    return text or None


def _plain(text: Any) -> str:
    return re.sub(r"[\W_]", "", str(text)).lower()
