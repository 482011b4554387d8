"""Settings of an instance of its own, and its parts without anything that dispatches."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.persistence.database import Database
from appliance.runtime.assembly import make_equipment
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.equipment import Equipment
from appliance.runtime.sessions import Sessions
from appliance.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    # pytest's own folders have paths too long for sockets.
    run_dir = Path(tempfile.mkdtemp(prefix="ph-run-"))
    base = 30_000 + os.getpid() % 2_000
    yield Settings(
        data_dir=tmp_path / "data",
        run_dir=run_dir,
        port=base,
        bridge_port_base=base + 1,
        cdp_port_base=base + 2,
        display_base=20_000 + os.getpid() % 2_000,
        anthropic_api_key="sk-secret",
    )
    shutil.rmtree(run_dir, ignore_errors=True)


@pytest.fixture
def equipment(settings: Settings, database: Database) -> Equipment:
    return make_equipment(settings, database, b"a secret of the tests, long enough")


@pytest.fixture
def sessions(equipment: Equipment) -> Sessions:
    """The use cases over a dispatcher that never starts: what is queued stays so."""
    dispatcher = Dispatcher(equipment)
    return Sessions(equipment.database, equipment.hub, dispatcher, ModelRules(equipment.keys), equipment.seal)
