"""The filling of plain fields from the facts of a page.

Nothing is made up: a fact counts for a field when its name, the field's title or the head of its description says so,
when it can be read as the field's type in one way only, and when the schema accepts it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin, urlsplit

from appliance.store.concepts import CONCEPTS, KNOWN_PHRASES
from appliance.store.facts import Fact, Value, bare, split_words
from appliance.store.fields import Field, Kind, Phrase
from appliance.store.readings import (
    CURRENCY_UNITS,
    find_currency,
    find_unit,
    read_date,
    read_moment,
    read_number,
    read_truth,
)

MAX_WORDS = 8
"""Words that a number may stand among; in a whole sentence it may be there for anything."""
_HEAD_END = re.compile(
    r"\s+(?:in|as|at|including|shown|given|listed|stated)\b|\s*[,.;:()]|\s*$"
    r"|\s+of (?:the|this|a|an) (?:\w+ )?(?:product|item|article|page|book|recipe|event|job|offer)\b",
    re.IGNORECASE,
)
MAX_HEAD = 1_000
"""Characters of a description in which its head has to end."""


@dataclass(frozen=True)
class Filled:
    """A value for a field, and the statement it was read from."""

    value: Any
    fact: Fact


def fill_fields(fields: Iterable[Field], facts: list[Fact], base_url: str) -> dict[str, Filled]:
    """Return what the facts state, by the name of the field; what they do not state is left out."""
    paid_in = _currency_of(facts)
    found = {field.name: _find_value(field, facts, paid_in, base_url) for field in fields}
    return {name: filled for name, filled in found.items() if filled is not None}


def _find_value(field: Field, facts: list[Fact], paid_in: str | None, base_url: str) -> Filled | None:
    if field.unit in CURRENCY_UNITS and paid_in not in (None, field.unit):
        return None
    for fact in _candidates(field, facts) if field.kinds else ():
        for kind in field.kinds:
            value = _read_as(kind, field, fact, base_url)
            if value is not None and field.shape.accepts(value):
                return Filled(value, fact)
    return None


def _currency_of(facts: list[Fact]) -> str | None:
    named = (str(fact.value).lower() for fact in facts if fact.words[-2:] == ("price", "currency"))
    return next((code for code in named if code in CURRENCY_UNITS), None)


def _candidates(field: Field, facts: list[Fact]) -> Iterator[Fact]:
    """Yield the facts that are about the field, most fitting first: by its names, then by its description's head."""
    for phrases in (set(field.phrases), _head_phrases(field.description, facts)):
        concepts = [(names, keys) for names, keys in CONCEPTS if phrases & names]
        aliases = phrases.union(*(names for names, _ in concepts))
        for source in ("linked", "meta", "labelled", "named", "page"):
            there = [fact for fact in facts if fact.source == source]
            yield from (fact for _, keys in concepts for key in keys for fact in there if fact.key == key)
            wanted = aliases if source in ("labelled", "named") else phrases
            yield from (fact for fact in there if fact.words in wanted and source != "page")


def _head_phrases(description: str, facts: list[Fact]) -> set[Phrase]:
    """Return the known phrases that a description begins with, as "Price in euros" begins with "price"."""
    head = re.sub(r"^(?:the|an?)\s+", "", " ".join(description[:MAX_HEAD].split()), flags=re.IGNORECASE)
    for end in _HEAD_END.finditer(head):
        words = split_words(head[: end.start()])
        if words:
            return {words} if words in KNOWN_PHRASES or any(fact.words == words for fact in facts) else set()
    return set()


def _read_as(kind: Kind, field: Field, fact: Fact, base_url: str) -> Any:
    value = fact.value
    if kind == "strings":
        return _as_list(value)
    if isinstance(value, tuple):
        if kind != "string" or not value:
            return None
        value = value[0] if field.shape.role in ("url", "own_url") or len(value) == 1 else ", ".join(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else read_truth(str(value))
    if kind in ("number", "integer"):
        return _as_number(kind, field, value, is_exact=fact.source in ("linked", "meta"))
    return _as_text(field, value, base_url)


def _as_list(value: Value) -> list[str] | None:
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, str):
        return None
    separator = ";" if ";" in value else ","
    return [part.strip() for part in value.split(separator) if part.strip()]


def _as_number(kind: Kind, field: Field, value: Value, *, is_exact: bool) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number: Decimal | None = Decimal(str(value))
    else:
        unit = find_unit(str(value))
        if field.unit and unit and field.unit != unit:
            return None
        plain = str(value).strip()
        if len(plain.split()) > MAX_WORDS:
            return None
        number = Decimal(plain) if is_exact and re.fullmatch(r"-?\d+(?:\.\d+)?", plain) else read_number(plain)
    if number is None:
        return None
    if kind == "integer":
        return int(number) if number == number.to_integral_value() else None
    return int(number) if number == number.to_integral_value() and "." not in str(number) else float(number)


def _as_text(field: Field, value: Value, base_url: str) -> str | None:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if any("currency" in phrase for phrase in field.phrases) and not re.fullmatch(r"[A-Z]{3}", text):
        text = find_currency(text) or ""
    if field.shape.enum:
        return next((str(choice) for choice in field.shape.enum if bare(str(choice)) == bare(text)), None)
    if field.shape.format == "date":
        day = read_date(text)
        return day.isoformat() if day else None
    if field.shape.format == "date-time":
        return read_moment(text)
    if field.shape.role in ("url", "own_url"):
        return _as_address(text, base_url)
    return text or None


def _as_address(text: str, base_url: str) -> str | None:
    """Return the whole address that a page gives, to the byte where it is whole already."""
    if re.match(r"https?://\S+$", text, re.IGNORECASE):
        return text
    try:
        address = urljoin(base_url, text)
    except ValueError:
        return None
    return address if urlsplit(address).scheme in ("http", "https") and not re.search(r"\s", address) else None
