"""The prices that count now: those that the operator has set, read again often enough to take effect at once."""

from collections.abc import Mapping
from decimal import Decimal

from appliance.events import TokenCount
from appliance.models.catalog import ModelEntry
from appliance.models.prices import is_priced, list_version, price
from appliance.persistence.database import Database
from appliance.persistence.prices import list_prices
from appliance.persistence.records import PriceRecord


class PriceList:
    """Prices every call of every run.

    Other processes may set prices: `refresh` is called when a session is made or continued, when a run begins and
    after each of its steps.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._own: Mapping[str, PriceRecord] = {}

    async def refresh(self) -> None:
        """Read what is set; raises DatabaseUnavailable."""
        async with self._database.read() as transaction:
            self._own = {own.model: own for own in await list_prices(transaction)}

    def price(self, entry: ModelEntry, tokens: TokenCount) -> Decimal | None:
        """Return what one call costs in US dollars, None when no price is known."""
        return price(entry, tokens, self._own.get(entry.name))

    def version(self, entry: ModelEntry) -> str:
        """Return which prices count for the model: the name of the list, or when its own were set."""
        own = self._own.get(entry.name)
        return list_version() if own is None else f"own {own.updated_at:%Y-%m-%dT%H:%M:%S.%fZ}"

    def is_priced(self, entry: ModelEntry) -> bool:
        """Say whether a cap in money can be held for the model."""
        return is_priced(entry, self._own.get(entry.name))
