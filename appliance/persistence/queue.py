"""The order in which waiting runs are given slots: the oldest first within a team, and teams in turn.

The team whose last run began longest ago comes first, so that a team with a hundred tasks delays another by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, zip_longest
from uuid import UUID

from sqlalchemy import bindparam, func, select

from appliance.persistence.columns import utc_now
from appliance.persistence.records import RunRecord
from appliance.persistence.runs import list_runs_in
from appliance.persistence.tables import runs, teams
from appliance.persistence.transaction import Transaction
from appliance.words import RunStatus

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Waiting:
    """A run that waits, as far as its turn depends on it. Ids grow with time."""

    run_id: UUID
    session_id: UUID
    team_id: UUID | None


def order_fairly(waiting: Sequence[Waiting], last_started: Mapping[UUID | None, datetime]) -> tuple[Waiting, ...]:
    """Return the runs in the order of their turns; `last_started` says when a team's latest run began."""
    teams: dict[UUID | None, list[Waiting]] = {}
    for one in sorted(waiting, key=lambda one: one.run_id):
        teams.setdefault(one.team_id, []).append(one)
    in_turn = sorted(teams, key=lambda team: (last_started.get(team, _NEVER), teams[team][0].run_id))
    rounds = zip_longest(*(teams[team] for team in in_turn))
    return tuple(one for one in chain.from_iterable(rounds) if one is not None)


async def queued_runs(transaction: Transaction) -> tuple[RunRecord, ...]:
    """Return the runs that wait for a slot, the next one first."""
    waiting = {run.id: run for run in await list_runs_in(transaction, RunStatus.QUEUED)}
    ordered = await _order(
        transaction, [Waiting(run.id, run.session_id, run.payer and run.payer.team_id) for run in waiting.values()]
    )
    return tuple(waiting[one.run_id] for one in ordered)


async def find_positions(transaction: Transaction) -> dict[UUID, int]:
    """Return the place in the queue of every session that waits, from 1."""
    queued = select(runs.c.id, runs.c.session_id, runs.c.team_id).where(runs.c.status == RunStatus.QUEUED)
    rows = await transaction.execute(queued)
    ordered = await _order(transaction, [Waiting(row.id, row.session_id, row.team_id) for row in rows])
    return {one.session_id: place for place, one in enumerate(ordered, start=1)}


async def _order(transaction: Transaction, waiting: list[Waiting]) -> tuple[Waiting, ...]:
    served = {one.team_id for one in waiting if one.team_id is not None}
    if len(waiting) < 2 or len({one.team_id for one in waiting}) < 2:
        return order_fairly(waiting, {})
    rows = await transaction.execute(_LAST_STARTS, {"served": list(served), "now": utc_now()})
    return order_fairly(waiting, {row.id: row.at for row in rows if row.at is not None})


# After the clock was set back, a start in the future would hold its team back for as long. One look into the index for
# each team, however many runs there were.
_OWN_STARTS = select(func.max(runs.c.started_at)).where(
    runs.c.team_id == teams.c.id, runs.c.started_at <= bindparam("now")
)
_LAST_STARTS = select(teams.c.id, _OWN_STARTS.scalar_subquery().label("at")).where(
    teams.c.id.in_(bindparam("served", expanding=True))
)
