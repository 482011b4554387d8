"""What the kernel says of waiting for a processor."""

from pathlib import Path

import pytest

from appliance.runtime.pressure import read_stall


def test_the_share_of_time_that_something_waits_is_read_as_the_kernel_tells_it(tmp_path: Path) -> None:
    told = tmp_path / "cpu"
    told.write_text("some avg10=23.40 avg60=1.00 avg300=0.50 total=1\nfull avg10=99.00 avg60=0 avg300=0 total=0\n")
    assert read_stall(told) == pytest.approx(0.234)


def test_a_kernel_that_does_not_tell_is_judged_by_its_load(tmp_path: Path) -> None:
    assert 0 <= read_stall(tmp_path / "none") <= 1
    (tmp_path / "odd").write_text("nothing of the kind\n")
    assert 0 <= read_stall(tmp_path / "odd") <= 1
