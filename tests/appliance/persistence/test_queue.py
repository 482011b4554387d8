"""Waiting runs get slots oldest first within a team, and teams take turns."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.queue import Waiting, find_positions, order_fairly, queued_runs
from appliance.persistence.records import Payer, SessionRecord
from appliance.persistence.runs import add_run, change_run
from appliance.persistence.sessions import add_session, find_session
from appliance.persistence.teams import add_team
from appliance.words import RunStatus, SessionStatus

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEAMS = [uuid4() for _ in range(4)]


def waiting(*teams: UUID | None) -> list[Waiting]:
    return [Waiting(new_id(), new_id(), team) for team in teams]


def test_one_team_is_served_in_the_order_of_its_tasks() -> None:
    runs = waiting(*[TEAMS[0]] * 3)
    assert order_fairly(list(reversed(runs)), {}) == tuple(runs)


def test_a_team_with_many_tasks_delays_another_by_one() -> None:
    many, other = waiting(*[TEAMS[0]] * 5), waiting(TEAMS[1])
    assert order_fairly([*many, *other], {}).index(other[0]) == 1


def test_the_team_that_was_served_longest_ago_comes_first() -> None:
    first, second, never = waiting(TEAMS[0], TEAMS[1], TEAMS[2])
    started: dict[UUID | None, datetime] = {TEAMS[0]: NOON, TEAMS[1]: NOON - timedelta(hours=1)}
    assert order_fairly([first, second, never], started) == (never, second, first)


@given(st.lists(st.sampled_from([*TEAMS, None]), max_size=40))
def test_every_run_gets_a_turn_and_no_team_gets_two_before_another_had_one(teams: list[UUID | None]) -> None:
    runs = waiting(*teams)
    ordered = order_fairly(runs, {})
    assert set(ordered) == set(runs)
    for place, run in enumerate(ordered):
        served = [one.team_id for one in ordered[:place]]
        behind = {one.team_id for one in ordered[place:]}
        assert all(served.count(run.team_id) <= served.count(team) for team in behind)


async def _queue(database: Database, team_id: UUID, count: int, started_at: datetime | None = None) -> list[UUID]:
    made: list[UUID] = []

    async def write(transaction: Transaction) -> None:
        for _ in range(count):
            now = utc_now()
            session = SessionRecord(new_id(), SessionStatus.CREATED, "m", "bu-max", now, now, team_id=team_id)
            await add_session(transaction, session)
            run = await add_run(transaction, session.id, task="t", model="m", payer=Payer(team_id))
            if started_at is not None:
                await change_run(transaction, run.id, status=RunStatus.ENDED, started_at=started_at)
            made.append(session.id)

    await database.writer.submit(write)
    return made


@pytest.fixture
async def two_teams(database: Database) -> tuple[UUID, UUID]:
    async def write(transaction: Transaction) -> tuple[UUID, UUID]:
        return (await add_team(transaction, "One")).id, (await add_team(transaction, "Two")).id

    return await database.writer.submit(write)


async def test_positions_are_the_turns_of_the_sessions(database: Database, two_teams: tuple[UUID, UUID]) -> None:
    one, two = two_teams
    await _queue(database, one, 1, started_at=utc_now() - timedelta(hours=1))
    many, few = await _queue(database, one, 3), await _queue(database, two, 1)
    async with database.read() as transaction:
        positions = await find_positions(transaction)
        assert [run.session_id for run in await queued_runs(transaction)] == [few[0], *many]
        assert (await find_session(transaction, many[2])).queue_position == 4
    assert positions == {few[0]: 1, many[0]: 2, many[1]: 3, many[2]: 4}


async def test_a_clock_that_was_set_back_holds_no_team_back(database: Database, two_teams: tuple[UUID, UUID]) -> None:
    one, two = two_teams
    before, now = utc_now() + timedelta(hours=1), utc_now()
    await _queue(database, one, 1, started_at=before)
    await _queue(database, two, 1, started_at=before + timedelta(minutes=1))
    await _queue(database, one, 1, started_at=now)
    many, few = await _queue(database, one, 2), await _queue(database, two, 1)
    async with database.read() as transaction:
        assert [run.session_id for run in await queued_runs(transaction)] == [few[0], *many]
