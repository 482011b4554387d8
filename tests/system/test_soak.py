"""Many sessions in a row with random kills: the small soak always, the big one where SOAK_SESSIONS asks for it."""

import os

import pytest

from ops.benchmarks.soak import KINDS, Soak

BIG = int(os.environ.get("SOAK_SESSIONS", "0"))


@pytest.mark.timeout(600)
def test_sessions_and_kills_leave_nothing_behind_and_every_cent_is_accounted_for() -> None:
    soak = Soak(sessions=12, kills=3)
    soak.run()
    assert soak.faults == []
    assert set(soak.killed) <= set(KINDS)
    assert soak.killed["server"] == 1
    assert soak.spent > 0
    assert sum(soak.endings.values()) >= 12


@pytest.mark.skipif(not BIG, reason="SOAK_SESSIONS says how many sessions the big soak has")
@pytest.mark.timeout(7200)
def test_the_big_soak_leaves_nothing_behind() -> None:
    soak = Soak(sessions=BIG, kills=BIG // 8)
    soak.run()
    assert soak.faults == []
    assert set(soak.killed) == set(KINDS)
