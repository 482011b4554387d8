from types import SimpleNamespace

import pytest

from appliance.browser.observation import Screenshot
from appliance.errors import MachineFault
from appliance.models.catalog import AUTOPILOT
from appliance.runtime.agents import make_keeper, make_outlets
from appliance.runtime.folders import SessionFolders

PICTURE = Screenshot(b"jpeg", "image/jpeg", 1, 1)


async def test_the_picture_of_a_step_is_kept_under_run_and_step(tmp_path):
    folders = SessionFolders(tmp_path)
    folders.make()
    outlets = make_outlets(SimpleNamespace(number=2), AUTOPILOT, folders, SimpleNamespace(emit=None), SimpleNamespace())
    assert await outlets.keep_screenshot(7, PICTURE) == "002-0007.jpg"
    assert (folders.screenshots / "002-0007.jpg").read_bytes() == b"jpeg"


async def test_a_picture_that_cannot_be_kept_is_one_clear_fault(tmp_path):
    outlets = make_outlets(
        SimpleNamespace(number=1), AUTOPILOT, SessionFolders(tmp_path), SimpleNamespace(emit=None), SimpleNamespace()
    )
    with pytest.raises(MachineFault, match="make room"):
        await outlets.keep_screenshot(1, PICTURE)


async def test_pictures_of_pages_are_kept_beside_those_of_steps_and_a_full_disk_costs_only_them(tmp_path):
    folders = SessionFolders(tmp_path)
    keep = make_keeper(SimpleNamespace(number=2), folders)
    assert await keep(PICTURE) is None
    folders.make()
    names = [await keep(PICTURE), await keep(PICTURE)]
    assert names == ["002-page-0002.jpg", "002-page-0003.jpg"]
    assert [(folders.screenshots / name).read_bytes() for name in names] == [PICTURE.data] * 2
