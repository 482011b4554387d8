"""The sandbox that the tests of a folder share."""

from collections.abc import AsyncIterator

import pytest

from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.sandbox_start import Direct
from tests.appliance.workspaces.machine import Machine


@pytest.fixture
async def machine() -> AsyncIterator[Machine]:
    sandbox = Sandbox(Direct())
    yield Machine(sandbox)
    await sandbox.close()
