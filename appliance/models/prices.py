"""What a model call costs, from the price list that comes with genai-prices; nothing is fetched."""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from appliance.events import TokenCount
from appliance.models.catalog import ModelEntry

Calculate = Callable[[TokenCount], Decimal | None]


def price(entry: ModelEntry, tokens: TokenCount) -> Decimal | None:
    """Return the cost in US dollars, each class of tokens at its own rate; None when no price is known.

    The keyless model costs nothing. A compatible server's price is never known. The first call loads the list, which
    takes 40 ms and 5 MB once a vendor's client is there.
    """
    if entry.provider == "autopilot":
        return Decimal(0)
    if entry.provider == "compatible":
        return None
    return _calculator(entry.provider, entry.api_name)(tokens)


def is_priced(entry: ModelEntry) -> bool:
    """Say whether a cap in money can be held for this model."""
    return price(entry, TokenCount(input=1, cache_read=1, cache_write=1, output=1)) is not None


@cache
def _calculator(provider: str, model: str) -> Calculate:
    from genai_prices import Usage, calc_price  # noqa: PLC0415  (loads a large table)

    def calculate(tokens: TokenCount) -> Decimal | None:
        usage: Any = Usage(
            input_tokens=tokens.input + tokens.cache_read + tokens.cache_write,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
        )
        try:
            return calc_price(usage, model_ref=model, provider_id=provider).total_price
        except LookupError:
            return None

    return calculate
