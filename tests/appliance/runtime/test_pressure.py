"""What the kernel says of waiting for a processor, and what the feed says of that."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from appliance.events import Notice
from appliance.persistence.database import Database
from appliance.persistence.events import read_events
from appliance.runtime.equipment import Equipment
from appliance.runtime.pressure import Level, level_of, read_stall, stall_of_load, telling_pressure
from tests.appliance.runtime.rig import open_rig
from tests.appliance.runtime.spending import make_run

DONE = {"done": {"text": "Done.", "success": True}}


def write_pressure(path: Path, percent: float) -> None:
    path.write_text(f"some avg10={percent:.2f} avg60=0.00 avg300=0.00 total=1\n")


def test_the_share_of_time_that_something_waits_is_read_as_the_kernel_tells_it(tmp_path: Path) -> None:
    told = tmp_path / "cpu"
    told.write_text("some avg10=23.40 avg60=1.00 avg300=0.50 total=1\nfull avg10=99.00 avg60=0 avg300=0 total=0\n")
    assert read_stall(told) == pytest.approx(0.234)


def test_a_kernel_that_does_not_tell_is_judged_by_its_load(tmp_path: Path) -> None:
    assert 0 <= read_stall(tmp_path / "none") <= 1
    (tmp_path / "odd").write_text("nothing of the kind\n")
    assert 0 <= read_stall(tmp_path / "odd") <= 1


def test_a_load_of_one_task_per_core_counts_as_elevated_and_of_one_and_a_quarter_as_saturated() -> None:
    assert stall_of_load(0.5) == 0
    assert [level_of(stall_of_load(load) + 1e-9) for load in (0.99, 1.0, 1.24, 1.25, 9)] == [0, 1, 1, 2, 2]
    assert stall_of_load(9) == 1


def test_a_machine_is_elevated_from_15_percent_and_saturated_from_30() -> None:
    assert [level_of(stall) for stall in (0, 0.149, 0.15, 0.299, 0.3, 1)] == [0, 0, 1, 1, 2, 2]


def test_a_level_is_left_only_well_below_where_it_begins() -> None:
    assert level_of(0.13, Level.ELEVATED) is Level.ELEVATED
    assert level_of(0.11, Level.ELEVATED) is Level.CALM
    assert level_of(0.25, Level.SATURATED) is Level.SATURATED
    assert level_of(0.23, Level.SATURATED) is Level.ELEVATED
    assert level_of(0.05, Level.SATURATED) is Level.CALM
    assert level_of(0.5, Level.ELEVATED) is Level.SATURATED


async def test_the_feed_is_told_how_hard_the_machine_is_pressed_and_when_that_changes(
    equipment: Equipment, database: Database, tmp_path: Path
) -> None:
    run, psi = await make_run(database, None), tmp_path / "cpu"

    async def told(count: int) -> list[tuple[str, bool]]:
        async with asyncio.timeout(60):
            while len(found := await notices(equipment, run.session_id)) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return found

    write_pressure(psi, 20)
    async with telling_pressure(equipment.feed, run, lambda: read_stall(psi), 0.02):
        await told(1)
        write_pressure(psi, 47.3)
        await told(2)
        write_pressure(psi, 1)
        await told(3)
    elevated, saturated, calm = await told(3)
    assert elevated[1] and "for 20 % of the time work waits" in elevated[0]
    assert saturated[1] and "for 47 % of the time" in saturated[0] and "let fewer sessions work" in saturated[0]
    assert calm == ("The machine is not hard pressed any more.", False)


async def test_a_run_that_begins_on_a_pressed_machine_says_so_and_on_a_calm_one_nothing(
    tmp_path: Path, database: Database
) -> None:
    psi = tmp_path / "cpu"
    async with open_rig(tmp_path, database, pressure_path=psi) as rig:
        write_pressure(psi, 14)
        calm = await rig.run("RUN-calm Go.", [DONE])
        assert "pressure" not in await rig.notices(calm)
        write_pressure(psi, 31)
        pressed = await rig.run("RUN-pressed Go.", [DONE])
        assert (await rig.notices(pressed)).count("pressure") == 1


async def notices(equipment: Equipment, session_id: UUID) -> list[tuple[str, bool]]:
    async with equipment.database.read() as transaction:
        page = await read_events(transaction, session_id)
    events = [record.event for record in page.events]
    return [(event.text, event.is_trouble) for event in events if isinstance(event, Notice)]
