"""Teams, caps, runs and charges of tests about money."""

from decimal import Decimal
from uuid import UUID

from appliance.events import Charge, Notice
from appliance.feed.writer import write_event
from appliance.models.catalog import ModelEntry, find_entry
from appliance.persistence import caps
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.keys import add_key
from appliance.persistence.records import CapRecord, Payer, PriceRecord, RunRecord, SessionRecord
from appliance.persistence.runs import add_run
from appliance.persistence.sessions import add_session
from appliance.persistence.teams import add_team
from appliance.words import CapScope, Period, Purpose, SessionStatus

DOLLAR_A_MILLION = PriceRecord(
    model="house-model",
    input_usd=Decimal(1),
    cache_read_usd=Decimal(1),
    cache_write_usd=Decimal(1),
    output_usd=Decimal(1),
    long_from=None,
    long_factor=None,
    updated_at=utc_now(),
)


def house_model() -> ModelEntry:
    entry = find_entry("house-model", ("house-model",))
    assert entry is not None
    return entry


async def make_payer(database: Database, name: str = "Harbour") -> Payer:
    async def write(transaction: Transaction) -> Payer:
        team = await add_team(transaction, name)
        key = await add_key(transaction, f"key of {name}", f"secret of {name}", team_id=team.id)
        return Payer(team.id, None, key.id)

    return await database.writer.submit(write)


async def make_run(database: Database, payer: Payer | None = None, model: str = "house-model") -> RunRecord:
    now = utc_now()
    session = SessionRecord(new_id(), SessionStatus.RUNNING, model, "bu-max", created_at=now, updated_at=now)

    async def write(transaction: Transaction) -> RunRecord:
        await add_session(transaction, session)
        return await add_run(transaction, session.id, task="x", model=model, payer=payer)

    return await database.writer.submit(write)


async def set_cap(
    database: Database,
    scope: CapScope,
    subject: UUID | None,
    hard: str | None,
    *,
    soft: str | None = None,
    period: Period = Period.LIFETIME,
) -> CapRecord:
    limits = (None if hard is None else Decimal(hard), None if soft is None else Decimal(soft))
    return await database.writer.submit(lambda tx: caps.set_cap(tx, scope, subject, period, limits))


async def spend(database: Database, run: RunRecord, amount: str) -> None:
    charges = (Charge(Purpose.STEP, run.model, cost_usd=Decimal(amount)),)
    await database.writer.submit(
        lambda tx: write_event(tx, run.session_id, run.id, Notice("spent", "."), charges=charges)
    )
