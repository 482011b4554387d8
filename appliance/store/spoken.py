"""The forms in which pages write a value: numbers with their separators, dates in words, phrases, addresses."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from appliance.store.texts import tidy

MAX_FORM = 4_000
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\\[\]{}]+", re.IGNORECASE)
_AFTER = ".,;:!?*_"
"""Signs that end a sentence or an emphasis and are no part of an address that stands before them."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTHS = (
    ("january", "jan", "januar", "janvier"),
    ("february", "feb", "februar", "février"),
    ("march", "mar", "märz", "mars"),
    ("april", "apr", "april", "avril"),
    ("may", "may", "mai", "mai"),
    ("june", "jun", "juni", "juin"),
    ("july", "jul", "juli", "juillet"),
    ("august", "aug", "august", "août"),
    ("september", "sep", "september", "septembre"),
    ("october", "oct", "oktober", "octobre"),
    ("november", "nov", "november", "novembre"),
    ("december", "dec", "dezember", "décembre"),
)


@lru_cache(maxsize=5_000, typed=True)
def _forms_of(value: str | float | Decimal) -> tuple[str, ...]:
    if not isinstance(value, str):
        return _number_forms(value)
    plain = tidy(value)
    if not plain or len(plain) > MAX_FORM:
        return ()
    return tuple(dict.fromkeys([plain, *(_date_forms(plain) if _DAY.match(plain) else ())]))


def spoken_forms(value: Any) -> tuple[str, ...]:
    """Return the forms in which a page may say a value, the most likely first; none for what has no words."""
    if isinstance(value, bool) or value is None:
        return ()
    return _forms_of(value) if isinstance(value, str | int | float | Decimal) else ()


def words_pattern(text: str) -> re.Pattern[str] | None:
    """Return what finds the words of a text however they are joined: "in_stock" as In stock, in-stock and InStock."""
    words = _words_of(text)
    if not words:
        return None
    joined = r"[\W_]{0,3}".join(map(re.escape, words))
    return re.compile(rf"(?<![^\W_]){joined}(?![^\W_])")


def joinings(text: str) -> tuple[str, ...]:
    """Return the words of a text apart and in one: whatever has them has the words of one of these."""
    words = _words_of(text)
    return (" ".join(words), "".join(words))


def _words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", tidy(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)))


def addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses that stand in a text, whole ones only: none that was cut short with an ellipsis."""
    if "://" not in text and ":\\/\\/" not in text:
        return
    for match in _ADDRESS.finditer(text.replace("\\/", "/") if "\\/" in text else text):
        if match[0].endswith("…"):
            continue
        yield match[0]
        bare = bare_address(match[0])
        if bare != match[0]:
            yield bare


def bare_address(address: str) -> str:
    """Return an address without what follows it in a sentence: a closing bracket only belongs to one that opens it."""
    bare = address.rstrip(_AFTER)
    while bare.endswith(")") and bare.count("(") < bare.count(")"):
        bare = bare[:-1].rstrip(_AFTER)
    return bare


def _number_forms(value: float | Decimal) -> tuple[str, ...]:
    try:
        signed = Decimal(str(value))
    except InvalidOperation:
        return ()
    if not signed.is_finite():
        return ()
    number, sign = abs(signed), "-" if signed < 0 else ""
    if number.adjusted() > 30 or number.adjusted() < -15:
        return ()
    whole, _, fraction = f"{number:f}".partition(".")
    fraction = fraction.rstrip("0")
    groups = f"{int(whole):,}"
    tails = [fraction] if len(fraction) > 1 else [fraction, f"{fraction:0<2}"] if fraction else ["", "00", "0"]
    forms: list[str] = []
    for tail in tails:
        for mark, separators in ((".", ("", ",", " ", "'")), (",", ("", ".", " ", "'"))):
            for separator in separators:
                head = whole if not separator else groups.replace(",", separator)
                forms.append(f"{sign}{head}{mark}{tail}" if tail else f"{sign}{head}")
    return tuple(dict.fromkeys(forms))


def _date_forms(text: str) -> list[str]:
    try:
        day = date.fromisoformat(text[:10]) if len(text) == 10 else datetime.fromisoformat(text.upper()).date()
    except ValueError:
        return []
    number, month, year = day.day, day.month, day.year
    forms = [day.isoformat()]
    for one in dict.fromkeys((f"{number}", f"{number:02}")):
        for two in dict.fromkeys((f"{month}", f"{month:02}")):
            forms += [f"{one}.{two}.{year}", f"{one}. {two}. {year}", f"{two}/{one}/{year}", f"{one}/{two}/{year}"]
            forms += [f"{year}/{two}/{one}", f"{one}-{two}-{year}"]
        for name in dict.fromkeys(_MONTHS[month - 1]):
            forms += [f"{name} {one}, {year}", f"{one} {name} {year}", f"{one}. {name} {year}", f"{name} {one} {year}"]
            forms += [f"{name}. {one}, {year}", f"{one} {name}. {year}", f"{one} {name}, {year}"]
            forms += [f"{name} {one}{end}, {year}" for end in ("st", "nd", "rd", "th")]
            forms += [f"{one}{end} {name} {year}" for end in ("st", "nd", "rd", "th")]
    return list(dict.fromkeys(forms))
