from types import SimpleNamespace

import pytest

from appliance.browser.observation import Screenshot
from appliance.errors import MachineFault
from appliance.models.catalog import AUTOPILOT
from appliance.runtime.agents import make_outlets
from appliance.runtime.folders import SessionFolders

PICTURE = Screenshot(b"jpeg", "image/jpeg", 1, 1)


async def test_the_picture_of_a_step_is_kept_under_run_and_step(tmp_path):
    folders = SessionFolders(tmp_path)
    folders.make()
    outlets = make_outlets(SimpleNamespace(number=2), AUTOPILOT, folders, SimpleNamespace(emit=None))
    assert await outlets.keep_screenshot(7, PICTURE) == "002-0007.jpg"
    assert (folders.screenshots / "002-0007.jpg").read_bytes() == b"jpeg"


async def test_a_picture_that_cannot_be_kept_is_one_clear_fault(tmp_path):
    outlets = make_outlets(SimpleNamespace(number=1), AUTOPILOT, SessionFolders(tmp_path), SimpleNamespace(emit=None))
    with pytest.raises(MachineFault, match="make room"):
        await outlets.keep_screenshot(1, PICTURE)
