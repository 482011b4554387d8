"""Column types: aware UTC times, exact decimals, money in whole micro-dollars, JSON by msgspec; token counts."""

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any

import msgspec
from sqlalchemy import BigInteger, DateTime, String, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator
from typing_extensions import override

from appliance.events import TokenCount

_MICRO = Decimal(1_000_000)


def utc_now() -> datetime:
    """Return the present moment with its UTC offset."""
    return datetime.now(UTC)


def token_values(tokens: TokenCount) -> dict[str, int]:
    """Return the token counts by column name."""
    return {
        "input_tokens": tokens.input,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
    }


TOKEN_COLUMNS = tuple(token_values(TokenCount()))


def read_tokens(row: Any) -> TokenCount:
    """Return the token counts of a row with those columns; what has no value, as a sum of nothing, counts as 0."""
    return TokenCount(
        row.input_tokens or 0, row.cache_read_tokens or 0, row.cache_write_tokens or 0, row.output_tokens or 0
    )


class Moment(TypeDecorator[datetime]):
    """An aware time, kept and given back in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC; raises ValueError for a time without an offset."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A stored time needs an offset; use utc_now().")
        return value.astimezone(UTC)

    @override
    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored time as aware UTC; SQLite gives it back without an offset."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ExactDecimal(TypeDecorator[Decimal]):
    """A decimal kept as plain text, so that a limit comes back exactly as it was given."""

    impl = String(64)
    cache_ok = True

    @override
    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        """Return plain notation, never with an exponent."""
        return None if value is None else format(value, "f")

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        """Return the decimal that was stored."""
        return None if value is None else Decimal(value)


class MicroDollars(TypeDecorator[Decimal]):
    """An amount in US dollars, kept as a whole number of millionths so that the database can add it up exactly."""

    impl = BigInteger
    cache_ok = True

    @override
    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """Return the amount in millionths, half a millionth rounded up."""
        return None if value is None else int((value * _MICRO).to_integral_value(ROUND_HALF_UP))

    @override
    def process_result_value(self, value: int | None, dialect: Dialect) -> Decimal | None:
        """Return the amount in dollars."""
        return None if value is None else Decimal(value) / _MICRO


class Json(TypeDecorator[Any]):
    """A JSON document as text; None is stored as NULL."""

    impl = Text
    cache_ok = True

    @override
    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Return the document as text."""
        return None if value is None else msgspec.json.encode(value).decode()

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the document that was stored."""
        return None if value is None else msgspec.json.decode(value)


class Word(TypeDecorator[StrEnum]):
    """A word of one of the closed vocabularies, kept as its text."""

    impl = String(32)
    cache_ok = True

    def __init__(self, vocabulary: type[StrEnum]) -> None:
        super().__init__()
        self.vocabulary = vocabulary

    @override
    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:
        """Return the word's text."""
        return None if value is None else self.vocabulary(value).value

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """Return the word; raises ValueError for one that the vocabulary does not have."""
        return None if value is None else self.vocabulary(value)
