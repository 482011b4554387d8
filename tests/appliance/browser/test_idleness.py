"""How much processor time is left over, read from counts as the kernel writes them."""

from pathlib import Path

import pytest

from appliance.browser.idleness import Idleness


def write(stat: Path, *counts: int) -> None:
    stat.write_text(f"cpu  {' '.join(map(str, counts))}\ncpu0 1 2 3 4 5 6 7 8 9 10\n")


def test_it_is_the_share_since_the_last_question(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    write(stat, 100, 0, 100, 1000, 0, 0, 0, 0, 50, 0)
    idleness = Idleness(stat)
    write(stat, 130, 0, 130, 1030, 10, 0, 0, 0, 80, 0)
    assert idleness.share() == pytest.approx(0.4)
    write(stat, 230, 0, 130, 1030, 10, 0, 0, 0, 180, 0)
    assert idleness.share() == 0.0


def test_where_nobody_counts_there_is_room(tmp_path: Path) -> None:
    assert Idleness(tmp_path / "none").share() == 1.0
    (tmp_path / "stat").write_text("")
    assert Idleness(tmp_path / "stat").share() == 1.0


def test_this_machine_tells_it() -> None:
    assert 0.0 <= Idleness().share() <= 1.0
