"""Five runs at once under one cap of a team, with the stand-in's word for what each call took."""

from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from appliance.events import Charge
from appliance.persistence.caps import raise_cap
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ledger import add_charges, list_charges, sum_spent
from appliance.persistence.prices import set_price
from appliance.persistence.records import SessionRecord
from appliance.words import CapScope, Ending, FailureKind, Lifecycle, Period, Purpose
from tests.appliance.runtime.rig import Rig, open_rig
from tests.appliance.runtime.spending import DOLLAR_A_MILLION, make_payer, make_run, set_cap, spend

USAGE = {"input": 70_000, "output": 0}
STEP_USD, DEAREST_STEP_USD = Decimal("0.07"), Decimal("0.075")
"""What each step costs, and the first one with the goal beside it."""

SCHEMA = {"type": "object", "properties": {"found": {"type": "array", "items": {"type": "object"}}}}


def saving(number: int) -> dict[str, Any]:
    """A step that saves what was found so far and costs seven cents."""
    value = {"found": [{"n": n} for n in range(number)]}
    call = {"checkpoint": {"file_name": "found.json", "value": value, "partial": True}}
    return {"reply": call, "__usage__": USAGE}


@pytest.fixture
async def rig(tmp_path: Path, database: Database) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path, database, max_concurrent_sessions=5) as rig:
        await database.writer.submit(lambda tx: set_price(tx, DOLLAR_A_MILLION))
        yield rig


async def test_five_runs_under_one_cap_overshoot_it_together_by_at_most_one_step(rig: Rig, database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, "1", period=Period.MONTH)
    steps = [saving(number) for number in range(1, 60)]
    waiting: list[SessionRecord] = []
    for number in range(5):
        marker = f"CAP-{number}"
        rig.stand_in.add(marker, {"steps": steps, "goals": ["Find all."]})
        waiting.append(await rig.create(f"{marker} Find all of them.", payer=payer, output_schema=SCHEMA))
    ended = [await rig.ended(session) for session in waiting]
    async with database.read() as transaction:
        spent = await sum_spent(transaction, CapScope.TEAM, payer.team_id)
        charged = [sum(row.charge.cost_usd or 0 for row in await list_charges(transaction, one.id)) for one in ended]
    assert 1 - 2 * STEP_USD < spent < 1 + DEAREST_STEP_USD
    assert sum(charged) == sum(session.cost_usd for session in ended) == spent
    for session in ended:
        assert session.failure is FailureKind.BUDGET_EXCEEDED
        assert "for the team Harbour" in str(session.last_step_summary)
        # One whose browser comes last may find the cap used up before its first step.
        assert session.step_count == 0 or len(session.output["found"]) >= 1, "what was saved is handed over"
        (run,) = await rig.sessions.list_runs(session.id)
        assert run.ending is Ending.BUDGET_SPENT
    told = [code for session in ended for code in await rig.notices(session) if code == "cap_alert"]
    assert 2 <= len(told) <= 3


async def test_a_run_that_waited_while_the_cap_was_used_up_ends_without_a_browser(rig: Rig, database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    await rig.dispatcher.close()
    session = await rig.create("LATE Read the page.", [saving(1)], payer=payer)
    await spend(database, await make_run(database, payer), "1.2")
    rig.dispatcher.start()
    session = await rig.ended(session)
    assert (session.failure, session.step_count) == (FailureKind.BUDGET_EXCEEDED, 0)
    assert "is used up: $1.20 are spent" in str(session.last_step_summary)
    assert rig.chromiums() == []
    assert rig.asked("LATE") == 0


async def test_a_cap_that_is_raised_while_a_run_works_counts_from_the_next_step_on(
    rig: Rig, database: Database
) -> None:
    payer = await make_payer(database)
    cap = await set_cap(database, CapScope.TEAM, payer.team_id, "1")
    other = await make_run(database, payer)
    steps = [saving(1), {**saving(2), "__delay__": 1}, saving(3), {"done": {"text": '{"found": []}'}}]
    rig.stand_in.add("RAISE", {"steps": steps})
    session = await rig.create("RAISE Find all of them.", payer=payer, output_schema=SCHEMA)
    await rig.until(session.id, lambda: rig.asked("RAISE") >= 2)

    async def write(transaction: Transaction) -> None:
        charges = (Charge(Purpose.STEP, "house-model", cost_usd=Decimal("0.95")),)
        await add_charges(transaction, other.session_id, other.id, charges)
        await raise_cap(transaction, cap.id, Decimal(1), utc_now() + timedelta(days=1))

    await database.writer.submit(write)
    session = await rig.ended(session)
    assert session.failure is None, session.last_step_summary
    assert session.step_count == 4


async def test_what_is_held_for_a_paused_run_is_there_for_others_meanwhile(rig: Rig, database: Database) -> None:
    payer = await make_payer(database)
    await set_cap(database, CapScope.TEAM, payer.team_id, "0.24")
    steps = [saving(1), {**saving(2), "__delay__": 1}, saving(3)]
    rig.stand_in.add("PAUSED", {"steps": steps, "goals": ["Find all."]})
    paused = await rig.create("PAUSED Find all of them.", payer=payer, output_schema=SCHEMA)
    await rig.until(paused.id, lambda: rig.asked("PAUSED") >= 2)
    await rig.sessions.pause(paused.id)
    done = {"reply": {"done": {"text": "Done.", "success": True}}, "__usage__": {"input": 20_000, "output": 0}}
    other = await rig.run("OTHER Go.", [done], payer=payer)
    assert (other.failure, other.output) == (None, "Done.")
    assert (await rig.sessions.find(paused.id)).lifecycle is Lifecycle.PAUSED
    await rig.sessions.resume(paused.id)
    paused = await rig.ended(paused)
    assert paused.cost_usd + other.cost_usd <= Decimal("0.24") + STEP_USD
    assert len(paused.output["found"]) >= 2
