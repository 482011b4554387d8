"""`pilothouse price`: what models cost here, where the price list is wrong or does not have them."""

import asyncio
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from appliance.errors import PilothouseError
from appliance.models.catalog import find_entry
from appliance.persistence.columns import utc_now
from appliance.persistence.prices import list_prices, remove_price, set_price
from appliance.persistence.records import PriceRecord
from appliance.settings import Settings, load_settings
from web.cli.access import opened_database, write_here

_HIGHEST = Decimal(1_000_000)
_FINEST = Decimal("1e-12")
_HIGHEST_FACTOR = 100


def register(app: typer.Typer) -> None:
    """Add the commands."""
    prices = typer.Typer(help="Prices of models.", no_args_is_help=True, callback=_describe)
    prices.command(name="list")(list_all)
    prices.command(name="set")(set_one)
    prices.command()(remove)
    app.add_typer(prices, name="price")


def list_all() -> None:
    """Print the prices that are set, in US dollars for a million tokens. All others are those of the price list."""
    prices = asyncio.run(_read(load_settings()))
    if not prices:
        print("No price is set; every model costs what the price list says.")
        return
    print(f"{'model':32} {'input':>10} {'cache read':>10} {'cache write':>11} {'output':>10}  set at")
    for one in prices:
        amounts = (one.input_usd, one.cache_read_usd, one.cache_write_usd, one.output_usd)
        numbers = "{:>10} {:>10} {:>11} {:>10}".format(*(f"{amount:f}" for amount in amounts))
        print(f"{one.model:32} {numbers}  {one.updated_at:%Y-%m-%d %H:%M} UTC{_tell_tier(one)}")


def set_one(
    model: Annotated[str, typer.Argument(help="The model, by the name that its runs show.")],
    input_usd: Annotated[str, typer.Option("--input", help="US dollars for a million uncached input tokens.")],
    output_usd: Annotated[str, typer.Option("--output", help="The same for output tokens.")],
    cache_read_usd: Annotated[
        str, typer.Option("--cache-read", help="For tokens read from the cache; by default as input.")
    ] = "",
    cache_write_usd: Annotated[
        str, typer.Option("--cache-write", help="For tokens written to the cache; by default as input.")
    ] = "",
    long_context: Annotated[
        str, typer.Option("--long", help="TOKENS:FACTOR, as 200000:2 when calls with so long a prompt cost double.")
    ] = "",
) -> None:
    """Say what a model costs. It counts from the next step of every run on."""
    settings = load_settings()
    entry = find_entry(model, settings.compatible_models)
    if entry is None:
        raise PilothouseError(f"There is no model {model[:100]!r}; name one of the catalogue or of COMPATIBLE_MODELS.")
    long_from, long_factor = _read_tier(long_context)
    usual = _read_amount(input_usd, "--input")
    price = PriceRecord(
        model=entry.name,
        input_usd=usual,
        cache_read_usd=_read_amount(cache_read_usd, "--cache-read") if cache_read_usd else usual,
        cache_write_usd=_read_amount(cache_write_usd, "--cache-write") if cache_write_usd else usual,
        output_usd=_read_amount(output_usd, "--output"),
        long_from=long_from,
        long_factor=long_factor,
        updated_at=utc_now(),
    )
    asyncio.run(write_here(settings, lambda transaction: set_price(transaction, price)))
    print(f"{entry.name} is counted at this price from the next step of every run on.")


def remove(
    model: Annotated[str, typer.Argument(help="The model whose price is to be that of the list again.")],
) -> None:
    """Forget the price that was set for a model."""
    settings = load_settings()
    entry = find_entry(model, settings.compatible_models)
    name = model if entry is None else entry.name
    asyncio.run(write_here(settings, lambda transaction: remove_price(transaction, name)))
    print(f"{name} is counted by the price list again, from the next step of every run on.")


def _read_amount(text: str, option: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount <= _HIGHEST or amount != amount.quantize(_FINEST):
        raise PilothouseError(
            f"{option} is an amount in US dollars from 0 to {_HIGHEST}, such as 2.50; not {text[:40]!r}."
        )
    return amount


def _read_tier(text: str) -> tuple[int | None, Decimal | None]:
    if not text:
        return None, None
    tokens, _, factor = text.partition(":")
    with suppress(InvalidOperation):
        times = Decimal(factor)
        is_factor = times.is_finite() and _FINEST <= times <= _HIGHEST_FACTOR
        if is_factor and tokens.isascii() and tokens.isdigit() and len(tokens) < 10 and int(tokens) > 0:
            return int(tokens), times
    raise PilothouseError(
        f"--long is TOKENS:FACTOR, such as 200000:2, with a factor up to {_HIGHEST_FACTOR}; not {text[:40]!r}."
    )


def _tell_tier(price: PriceRecord) -> str:
    if price.long_from is None or price.long_factor is None:
        return ""
    return f", times {price.long_factor:f} from {price.long_from} prompt tokens"


async def _read(settings: Settings) -> tuple[PriceRecord, ...]:
    async with opened_database(settings) as database, database.read() as transaction:
        return await list_prices(transaction)


def _describe() -> None:
    """Prices of models."""
