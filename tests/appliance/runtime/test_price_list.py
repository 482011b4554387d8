from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from appliance.errors import NotFound, RequestInvalid
from appliance.events import TokenCount
from appliance.models.catalog import find_entry
from appliance.models.providers import ProviderKeys
from appliance.persistence.database import Database
from appliance.persistence.prices import list_prices, remove_price, set_price
from appliance.persistence.records import PriceRecord
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.equipment import Equipment
from appliance.runtime.price_list import PriceList
from appliance.runtime.sessions import Sessions
from appliance.runtime.wishes import SessionWish

CHEAP = PriceRecord(
    model="house-model",
    input_usd=Decimal("0.5"),
    cache_read_usd=Decimal("0.05"),
    cache_write_usd=Decimal("0.5"),
    output_usd=Decimal("1.50"),
    long_from=200_000,
    long_factor=Decimal(2),
    updated_at=datetime(2026, 7, 1, 12, 30, tzinfo=UTC),
)
HOUSE = find_entry("house-model", ("house-model",))
MILLION = TokenCount(output=1_000_000)


async def put(database: Database, price: PriceRecord) -> None:
    await database.writer.submit(lambda tx: set_price(tx, price))


async def test_a_price_comes_back_as_it_was_set_and_the_latest_counts(database: Database) -> None:
    dear = replace(CHEAP, output_usd=Decimal("100.00000001"), long_from=None, long_factor=None)
    await put(database, CHEAP)
    await put(database, dear)
    async with database.read() as transaction:
        assert await list_prices(transaction) == (dear,)


async def test_what_was_never_set_cannot_be_removed(database: Database) -> None:
    await put(database, CHEAP)
    await database.writer.submit(lambda tx: remove_price(tx, "house-model"))
    with pytest.raises(NotFound, match="house-model"):
        await database.writer.submit(lambda tx: remove_price(tx, "house-model"))


async def test_a_price_counts_from_the_next_look_on_and_names_itself(database: Database) -> None:
    assert HOUSE is not None
    prices = PriceList(database)
    assert (prices.price(HOUSE, MILLION), prices.is_priced(HOUSE)) == (None, False)
    assert prices.version(HOUSE).startswith("genai-prices")
    await put(database, CHEAP)
    await prices.refresh()
    assert (prices.price(HOUSE, MILLION), prices.is_priced(HOUSE)) == (Decimal("1.5"), True)
    assert prices.version(HOUSE) == "own 2026-07-01T12:30:00.000000Z"
    await database.writer.submit(lambda tx: remove_price(tx, "house-model"))
    await prices.refresh()
    assert prices.price(HOUSE, MILLION) is None


async def test_a_money_limit_becomes_possible_as_soon_as_a_price_is_set(equipment: Equipment) -> None:
    keys = ProviderKeys(compatible_base_url="http://localhost", compatible_models=("house-model",))
    rules = ModelRules(keys, prices=equipment.prices)
    sessions = Sessions(equipment.database, equipment.hub, Dispatcher(equipment), rules, equipment.seal)
    wish = SessionWish(task="t", model="house-model", max_cost_usd=Decimal(1))
    with pytest.raises(RequestInvalid, match="pilothouse price set house-model") as refused:
        await sessions.create(wish)
    assert refused.value.location == ("body", "maxCostUsd")
    await put(equipment.database, CHEAP)
    assert (await sessions.create(wish)).max_cost_usd == Decimal(1)
