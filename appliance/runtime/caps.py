"""What can be done with caps on spending: looked at, set, raised for a while, removed. Each change counts at once."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from appliance.errors import RequestInvalid
from appliance.money.caps import Gauge, check_limits, check_raise
from appliance.money.measuring import measure
from appliance.persistence import caps as cap_rows
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.records import CapRecord
from appliance.words import CapScope, Period


@dataclass(frozen=True)
class CapWish:
    """A cap in US dollars as it shall be: without `subject_id` for the instance, with that of a key, member or team."""

    scope: CapScope
    period: Period
    hard_usd: Decimal | None = None
    soft_usd: Decimal | None = None
    subject_id: UUID | None = None


class Caps:
    """The use cases. Unknown ids raise NotFound everywhere."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_gauges(self, team_id: UUID | None = None) -> tuple[Gauge, ...]:
        """Return how the caps stand, of a team with its members and keys, or all; the first made first."""
        async with self._database.read() as transaction:
            if team_id is None:
                caps = await cap_rows.list_caps(transaction)
            else:
                caps = await cap_rows.list_caps_in(transaction, team_id)
            return await measure(transaction, caps, utc_now())

    async def find_gauge(self, cap_id: UUID) -> Gauge:
        """Return how the cap stands."""
        async with self._database.read() as transaction:
            cap = await cap_rows.find_cap(transaction, cap_id)
            (gauge,) = await measure(transaction, (cap,), utc_now())
        return gauge

    async def set(self, wish: CapWish) -> Gauge:
        """Make the cap, or give the one of this subject and period these limits; returns how it stands.

        Raises RequestInvalid naming the field that cannot be used.
        """
        check_limits(wish.hard_usd, wish.soft_usd, names=("hardUsd", "softUsd"))
        if wish.scope is CapScope.INSTANCE and wish.subject_id is not None:
            raise RequestInvalid("A cap of the instance has no subjectId; leave it out.", "body", "subjectId")
        if wish.scope is not CapScope.INSTANCE and wish.subject_id is None:
            raise RequestInvalid(f"Say which {wish.scope} is capped: send its id.", "body", "subjectId")

        async def write(transaction: Transaction) -> CapRecord:
            limits = (wish.hard_usd, wish.soft_usd)
            return await cap_rows.set_cap(transaction, wish.scope, wish.subject_id, wish.period, limits)

        return await self.find_gauge((await self._database.writer.submit(write)).id)

    async def raise_until(self, cap_id: UUID, amount: Decimal, until: datetime) -> Gauge:
        """Add the amount to both limits until that moment, in place of an earlier raise; returns how the cap stands."""
        check_raise(amount, until, utc_now(), names=("amountUsd", "until"))

        async def write(transaction: Transaction) -> None:
            await cap_rows.raise_cap(transaction, cap_id, amount, until)

        await self._database.writer.submit(write)
        return await self.find_gauge(cap_id)

    async def remove(self, cap_id: UUID) -> None:
        """Take the cap away."""

        async def write(transaction: Transaction) -> None:
            await cap_rows.remove_cap(transaction, cap_id)

        await self._database.writer.submit(write)
