"""Reads and writes what the operator says that models cost."""

from sqlalchemy import delete, insert, select

from appliance.errors import NotFound
from appliance.persistence.records import PriceRecord
from appliance.persistence.tables import prices
from appliance.persistence.transaction import Transaction


async def set_price(transaction: Transaction, price: PriceRecord) -> None:
    """Write the price of a model in place of what was said of it before."""
    await transaction.execute(delete(prices).where(prices.c.model == price.model))
    await transaction.execute(
        insert(prices).values(
            model=price.model,
            input_usd=price.input_usd,
            cache_read_usd=price.cache_read_usd,
            cache_write_usd=price.cache_write_usd,
            output_usd=price.output_usd,
            long_from=price.long_from,
            long_factor=price.long_factor,
            updated_at=price.updated_at,
        )
    )


async def remove_price(transaction: Transaction, model: str) -> None:
    """Forget what was said of a model; raises NotFound when that was nothing."""
    if (await transaction.execute(delete(prices).where(prices.c.model == model))).rowcount == 0:
        raise NotFound(f"No price of your own is set for {model[:100]!r}; see pilothouse price list.")


async def list_prices(transaction: Transaction) -> tuple[PriceRecord, ...]:
    """Return the prices that are set, by model."""
    rows = await transaction.execute(select(prices).order_by(prices.c.model))
    return tuple(
        PriceRecord(
            model=row.model,
            input_usd=row.input_usd,
            cache_read_usd=row.cache_read_usd,
            cache_write_usd=row.cache_write_usd,
            output_usd=row.output_usd,
            long_from=row.long_from,
            long_factor=row.long_factor,
            updated_at=row.updated_at,
        )
        for row in rows
    )
