"""What a model call costs: by what the operator says of it, else by the price list that comes with genai-prices.

Nothing is fetched. A call is priced by itself, since with many models a long one costs more a token.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

from appliance.events import TokenCount
from appliance.models.catalog import ModelEntry

Calculate = Callable[[TokenCount], Decimal | None]


_MILLION = 1_000_000


class OwnRates(Protocol):
    """What the operator says a model costs, in US dollars for a million tokens of each class.

    A call with `long_from` prompt tokens or more, cached ones included, costs `long_factor` times as much.
    """

    @property
    def input_usd(self) -> Decimal: ...  # noqa: D102
    @property
    def cache_read_usd(self) -> Decimal: ...  # noqa: D102
    @property
    def cache_write_usd(self) -> Decimal: ...  # noqa: D102
    @property
    def output_usd(self) -> Decimal: ...  # noqa: D102
    @property
    def long_from(self) -> int | None: ...  # noqa: D102
    @property
    def long_factor(self) -> Decimal | None: ...  # noqa: D102


def price(entry: ModelEntry, tokens: TokenCount, own: OwnRates | None = None) -> Decimal | None:
    """Return the cost of one call in US dollars, each class of tokens at its rate; None when no price is known.

    `own` wins over the list. The keyless model costs nothing. What a compatible server costs is known from `own` only.
    The first call without it loads the list, which takes 40 ms and 5 MB once a vendor's client is there.
    """
    if entry.provider == "autopilot":
        return Decimal(0)
    if own is not None:
        return _price_by(own, tokens)
    if entry.provider == "compatible":
        return None
    return _calculator(entry.provider, entry.api_name)(tokens)


def is_priced(entry: ModelEntry, own: OwnRates | None = None) -> bool:
    """Say whether a cap in money can be held for this model."""
    return price(entry, TokenCount(input=1, cache_read=1, cache_write=1, output=1), own) is not None


@cache
def list_version() -> str:
    """Return the name of the price list, as `genai-prices 0.2.3`."""
    return f"genai-prices {version('genai-prices')}"


def _price_by(own: OwnRates, tokens: TokenCount) -> Decimal:
    cost = (
        tokens.input * own.input_usd
        + tokens.cache_read * own.cache_read_usd
        + tokens.cache_write * own.cache_write_usd
        + tokens.output * own.output_usd
    ) / _MILLION
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    is_long = own.long_from is not None and prompt >= own.long_from
    return cost * own.long_factor if is_long and own.long_factor is not None else cost


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
