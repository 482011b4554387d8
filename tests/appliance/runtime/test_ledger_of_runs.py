"""However a run ends: the ledger, its session and its runs tell the same sum, to the micro-dollar."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as checks
from hypothesis import strategies as st
from sqlalchemy import update

from appliance.agent.outcome import Outcome
from appliance.events import ActionFinished, Charge, FeedEvent, Notice, StepPlanned, TokenCount, cost_of, tokens_of
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ledger import list_charges
from appliance.persistence.migration import migrate
from appliance.persistence.prices import set_price
from appliance.persistence.records import ChargeRecord, PriceRecord, SessionRecord
from appliance.persistence.runs import find_latest_run, list_runs
from appliance.persistence.sessions import delete_session, find_session
from appliance.persistence.tables import sessions
from appliance.runtime.assembly import make_equipment
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.equipment import Equipment
from appliance.runtime.sessions import Sessions
from appliance.runtime.settling import Tally, settle
from appliance.runtime.wishes import SessionWish
from appliance.settings import Settings
from appliance.words import Ending, Purpose, ReceiptStatus, SessionStatus, StopStrategy
from tests.appliance.runtime.rig import Rig, open_rig
from tests.site import Site
from tests.stand_in.solver import KEY, SolverService

DONE = {"done": {"text": "Done.", "success": True}}
USED = {"input": 1_234, "cache_read": 567, "cache_write": 0, "output": 12}
HOUSE = PriceRecord(
    model="house-model",
    input_usd=Decimal("1.7"),
    cache_read_usd=Decimal("0.17"),
    cache_write_usd=Decimal("2.3"),
    output_usd=Decimal("7.1"),
    long_from=None,
    long_factor=None,
    updated_at=utc_now(),
)


@pytest.fixture
async def rig(tmp_path: Path, database: Database) -> AsyncIterator[Rig]:
    await database.writer.submit(lambda tx: set_price(tx, HOUSE))
    with SolverService() as service:
        solver = {"capsolver_api_key": KEY, "capsolver_base_url": service.url}
        async with open_rig(tmp_path, database, **solver) as rig:
            yield rig


async def agreed(database: Database, session: SessionRecord) -> tuple[ChargeRecord, ...]:
    """Return what the session was charged, once it is clear that ledger, session and runs agree."""
    async with database.read() as transaction:
        charged = await list_charges(transaction, session.id)
        found = await find_session(transaction, session.id)
        runs = await list_runs(transaction, session.id)
    assert cost_of(row.charge for row in charged) == found.cost_usd == sum(run.cost_usd for run in runs)
    assert tokens_of(row.charge for row in charged) == found.tokens == sum((run.tokens for run in runs), TokenCount())
    assert found.services_usd == sum(run.services_usd for run in runs)
    assert found.step_count == sum(run.step_count for run in runs)
    return charged


def purposes(charged: tuple[ChargeRecord, ...]) -> list[str]:
    return [row.charge.purpose for row in charged]


async def test_goal_steps_and_what_actions_ask_are_charged_each_by_itself(rig: Rig, database: Database, site: Site):
    steps = [
        {"reply": {"navigate": {"url": site.url("/captcha_image.html")}}, "__usage__": USED},
        {"extract": {"query": "What is asked?"}},
        {"reply": DONE, "__usage__": USED},
    ]
    ended = await rig.run("RUN-whole Go.", steps)
    assert ended.output == "Done."
    charged = await agreed(database, ended)
    assert sorted(purposes(charged)) == ["action", "goal", "step", "step", "step"]
    first = next(row.charge for row in charged if row.charge.tokens == TokenCount(*USED.values()))
    assert first.cost_usd == Decimal("0.002279")  # 0.00227939 in full
    assert {row.charge.price_version[:4] for row in charged} == {"own "}
    assert not any(row.charge.is_estimated for row in charged)


async def test_a_call_that_a_stop_or_a_lost_browser_cuts_off_is_charged_by_estimate(rig: Rig, database: Database):
    for marker in ("RUN-stopped", "RUN-lost"):
        session = await rig.create(f"{marker} Go.", [{"wait": {"seconds": 0}}, {"__hang__": True}])
        await rig.eventually(lambda marker=marker: rig.asked(marker) == 2)
        if marker == "RUN-stopped":
            await rig.sessions.stop(session.id, StopStrategy.SESSION)
        else:
            (chromium,) = rig.chromiums()
            chromium.kill()
        charged = await agreed(database, await rig.ended(session))
        assert sorted(purposes(charged)) == ["goal", "step", "step"]
        assert [row.charge.is_estimated for row in charged] == [False, False, True]
        assert (charged[-1].charge.cost_usd or 0) > 0


async def test_a_captcha_is_charged_beside_the_model_that_asked_for_it(rig: Rig, database: Database, site: Site):
    steps = [{"navigate": {"url": site.url("/captcha_image.html")}}, {"solve_captcha": {}}, DONE]
    ended = await rig.run("RUN-captcha Go.", steps)
    charged = await agreed(database, ended)
    (captcha,) = [row.charge for row in charged if row.charge.purpose is Purpose.CAPTCHA]
    assert (captcha.model, captcha.cost_usd, ended.services_usd) == ("capsolver", Decimal("0.0004"), Decimal("0.0004"))


async def test_a_second_task_is_a_run_with_a_cost_of_its_own(rig: Rig, database: Database):
    first = await rig.run("RUN-first Go.", [{"reply": DONE, "__usage__": USED}], keep_alive=True)
    rig.stand_in.add("RUN-second", [{"reply": DONE, "__usage__": USED}])
    await rig.sessions.create(SessionWish(task="RUN-second Go.", session_id=first.id))
    ended = await rig.ended(first)
    charged = await agreed(database, ended)
    assert {row.run_id for row in charged} == {run.id for run in await rig.sessions.list_runs(first.id)}
    assert ended.cost_usd > first.cost_usd


async def test_what_a_run_cost_is_counted_also_when_its_session_is_deleted_meanwhile(rig: Rig, database: Database):
    session = await rig.create("RUN-deleted Go.", [{"reply": DONE, "__usage__": USED, "__delay__": 1.0}])
    await rig.eventually(lambda: rig.asked("RUN-deleted"))
    await database.writer.submit(lambda tx: delete_session(tx, session.id))

    async def is_charged() -> bool:
        async with database.read() as transaction:
            return "step" in purposes(await list_charges(transaction, session.id))

    await rig.eventually(is_charged)


@dataclass
class Ground:
    """A database with its loop, for one example after the other."""

    runner: asyncio.Runner
    equipment: Equipment
    sessions: Sessions


@pytest.fixture
def ground(tmp_path: Path, settings: Settings) -> Iterator[Ground]:
    with _opened(tmp_path, settings) as ground:
        yield ground


@contextmanager
def _opened(folder: Path, settings: Settings) -> Iterator[Ground]:
    with asyncio.Runner() as runner:
        url = f"sqlite:///{folder / 'pilothouse.db'}"

        async def open_all() -> Ground:
            await migrate(url)
            database = Database(url)
            await database.open()
            equipment = make_equipment(settings, database, b"a secret of the tests, long enough")
            rules = ModelRules(equipment.keys)
            dispatcher = Dispatcher(equipment)
            return Ground(runner, equipment, Sessions(database, equipment.hub, dispatcher, rules, equipment.seal))

        ground = runner.run(open_all())
        yield ground
        runner.run(ground.equipment.database.close())


counts = st.integers(0, 2_000_000)
amounts = st.one_of(st.none(), st.decimals(-1, 100, allow_nan=False, allow_infinity=False, places=9))
charges = st.builds(
    Charge,
    purpose=st.sampled_from(list(Purpose)),
    model=st.sampled_from(["m", "capsolver"]),
    tokens=st.builds(TokenCount, counts, counts, counts, counts),
    cost_usd=amounts,
    is_estimated=st.booleans(),
)
groups = st.lists(charges, max_size=4).map(tuple)
tellings = st.lists(st.tuples(groups, st.sampled_from(["plan", "receipt", "notice", "refused", "never"])), max_size=6)


@checks(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=tellings)
def test_whatever_is_told_refused_or_never_told_the_sums_agree(ground: Ground, told: list[Any]):
    ground.runner.run(_check(ground, told))


async def _check(ground: Ground, told: list[tuple[tuple[Charge, ...], str]]) -> None:
    database = ground.equipment.database
    session = await ground.sessions.create(SessionWish(task="t", model="claude-sonnet-5"))
    async with database.read() as transaction:
        run = await find_latest_run(transaction, session.id)
    assert run is not None
    back = update(sessions).where(sessions.c.id == session.id).values(deleted_at=None)
    tally, number, everything = Tally(ground.equipment, run), 0, list[Charge]()
    for charged, how in told:
        everything += charged
        number += how == "plan"
        if how == "never":
            continue
        if how == "refused":
            await tally.flush()
            await database.writer.submit(lambda tx: delete_session(tx, session.id))
            await tally.emit(_event(how, number), charged)
            await tally.flush()
            await database.writer.submit(lambda tx: tx.execute(back))
            continue
        await tally.emit(_event(how, number), charged)
    await tally.flush()
    untold = tally.untold(everything)

    async def write(transaction: Transaction) -> None:
        await settle(transaction, run, _outcome(), SessionStatus.STOPPED, untold)

    await database.writer.submit(write)
    rows = await agreed(database, session)
    assert sum((row.charge.cost_usd or 0) for row in rows) == cost_of(everything)
    assert Counter(everything) == Counter(row.charge for row in rows)


def _event(how: str, number: int) -> FeedEvent:
    if how == "plan":
        return StepPlanned(
            step=number, see="s", plan="p", move="m", calls=(), url="", title="", tokens=TokenCount()
        )  # fmt: skip
    if how == "receipt":
        return ActionFinished(
            step=number, call_id="c", name="extract", status=ReceiptStatus.OK, text="x", duration_ms=1
        )
    return Notice(code="told", text="x")


def _outcome() -> Outcome:
    return Outcome(
        ending=Ending.STOPPED,
        output=None,
        is_successful=False,
        failure=None,
        status_code=None,
        summary="Stopped.",
        steps=0,
        tokens=TokenCount(),
        cost_usd=None,
    )
