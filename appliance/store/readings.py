"""Reading numbers, dates, yes and no out of the text of a page; what could be read in two ways is not read at all."""

import re
from datetime import date, datetime
from decimal import Decimal

_NUMBER = re.compile(r"(?<![\w.,])[-+−]?\d+(?:[.,'’]\d+|[\s\u00a0\u202f]\d{3}(?!\d))*")
_SEPARATORS = "'’ \u00a0\u202f"
_OUT_OF = re.compile(r"^\s*(?:/|out of|of|von|sur|de)\s*\d", re.IGNORECASE)
_YES = {"yes", "true", "y", "ja", "oui", "si", "sí", "1", "instock", "available", "onlineonly", "limitedavailability"}
_NO = {"no", "false", "n", "nein", "non", "0", "outofstock", "soldout", "unavailable", "discontinued", "notavailable"}
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier", "february feb februar février", "march mar märz mars", "april apr avril",
            "may mai", "june jun juni juin", "july jul juli juillet", "august aug août", "september sep sept septembre",
            "october oct oktober okt octobre", "november nov novembre", "december dec dezember dez décembre",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_CURRENCIES = {"€": "EUR", "£": "GBP", "US$": "USD", "zł": "PLN", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY"}
_UNITS = {
    "kilogram": "kg", "kilo": "kg", "gram": "g", "centimeter": "cm", "centimetre": "cm", "millimeter": "mm",
    "millimetre": "mm", "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km", "inch": "in", "minute": "min",
    "minutes": "min", "hour": "h", "hours": "h", "second": "s", "seconds": "s", "litre": "l", "liter": "l",
    "watt": "w", "watts": "w", "volt": "v", "percent": "%", "euro": "eur", "euros": "eur", "dollar": "usd",
    "dollars": "usd", "pound": "gbp", "pounds": "gbp",
}  # fmt: skip
CURRENCY_UNITS = frozenset(
    ("eur", "usd", "gbp", "chf", "pln", "inr", "rub", "krw", "try", "jpy", "cad", "aud", "sek", "nok", "dkk", "czk")
)
KNOWN_UNITS = CURRENCY_UNITS | {
    "kg", "g", "mg", "lb", "oz", "cm", "mm", "m", "km", "in", "ft", "min", "h", "s", "ms", "l", "ml", "w", "kw", "kwh",
    "v", "a", "%", "mb", "gb", "tb",
}  # fmt: skip


def read_number(text: str) -> Decimal | None:
    """Return the one number in the text, whatever marks its thousands and decimals; None for none or several.

    "€ 1.234,50", "1'234.50 CHF" and "4.5 out of 5" have one; "10–20" has two.
    """
    found = list(_NUMBER.finditer(text))
    if not found or (len(found) > 1 and not _OUT_OF.match(text[found[0].end() :])):
        return None
    digits = found[0][0].replace("−", "-")
    for separator in _SEPARATORS:
        digits = digits.replace(separator, "")
    plain = _with_decimal_point(digits, is_money=find_currency(text) is not None)
    return Decimal(plain) if plain else None


def find_currency(text: str) -> str | None:
    """Return the ISO code of the currency that the text names without doubt; a bare $ is many countries'."""
    for sign, code in _CURRENCIES.items():
        if sign in text:
            return code
    codes = {word for word in re.findall(r"\b[A-Z]{3}\b", text) if word.lower() in CURRENCY_UNITS}
    return codes.pop() if len(codes) == 1 else None


def find_unit(text: str) -> str | None:
    """Return the unit beside the number in the text, in short form and lower case; None without a known one."""
    currency = find_currency(text)
    if currency:
        return currency.lower()
    match = re.search(r"\d\s*(%|[^\W\d_]+)", text)
    return short_unit(match[1]) if match else None


def short_unit(word: str) -> str | None:
    """Return the short form of a unit's name, or None when it is not one."""
    lowered = word.lower()
    short = _UNITS.get(lowered, lowered)
    return short if short in KNOWN_UNITS else None


def read_truth(text: str) -> bool | None:
    """Return what a yes or no says, also in the words of schema.org's availability."""
    word = re.sub(r"[^\w]", "", text.rsplit("/", 1)[-1].lower())
    return True if word in _YES else False if word in _NO else None


def read_date(text: str) -> date | None:
    """Return the date in the text; None when day and month could be either."""
    text = text.strip()
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        pass
    if match := re.search(r"\b(\d{4})-(\d{2})-(\d{2})\b", text):
        return _date(match[1], match[2], match[3])
    if match := re.search(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b", text):
        return _date(match[3], match[2], match[1])
    if match := re.search(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b", text):
        first, second = int(match[1]), int(match[2])
        if first == second or max(first, second) > 12:
            return _date(match[3], str(min(first, second)), str(max(first, second)))
        return None
    return _date_in_words(text)


def read_moment(text: str) -> str | None:
    """Return a date with its time as RFC 3339; None unless the text says both and the zone."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment.isoformat() if moment.tzinfo is not None else None


def _with_decimal_point(digits: str, *, is_money: bool) -> str:
    """Return the digits with a point for decimals only, or an empty string when they are no number."""
    dots, commas = digits.count("."), digits.count(",")
    if dots and commas:
        decimal = max(".", ",", key=digits.rfind)
        thousands = "," if decimal == "." else "."
        if digits.count(decimal) > 1:
            return ""
        return digits.replace(thousands, "").replace(decimal, ".")
    if not dots and not commas:
        return digits
    mark = "." if dots else ","
    head, _, tail = digits.rpartition(mark)
    groups = re.fullmatch(rf"[-+]?[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+", digits) is not None
    if dots + commas > 1:
        return digits.replace(mark, "") if groups else ""
    if groups and (mark == "," or is_money):
        return digits.replace(mark, "")
    return f"{head}.{tail}"


def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _date_in_words(text: str) -> date | None:
    if match := re.search(r"\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([^\W\d]+)\.?,?\s+(\d{4})\b", text):
        month = _MONTHS.get(match[2].lower())
        return _date(match[3], str(month), match[1]) if month else None
    if match := re.search(r"\b([^\W\d]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b", text):
        month = _MONTHS.get(match[1].lower())
        return _date(match[3], str(month), match[2]) if month else None
    return None
