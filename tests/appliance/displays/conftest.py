import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from appliance.displays.layout import PoolLayout
from tests.appliance.displays.machine import (
    Machine,
    connect,
    free_shared_memory,
    make_layout,
    start_supervisord,
    stop_supervisord,
)


@pytest.fixture(scope="module")
def layout() -> Iterator[PoolLayout]:
    # pytest's own folders have paths too long for sockets.
    folder = Path(tempfile.mkdtemp(prefix="ph-"))
    yield make_layout(folder)
    free_shared_memory(folder / "run")
    shutil.rmtree(folder)


@pytest.fixture
def own_layout() -> Iterator[PoolLayout]:
    """The same for a test that ends its supervisord itself."""
    folder = Path(tempfile.mkdtemp(prefix="ph-"))
    yield make_layout(folder)
    free_shared_memory(folder / "run")
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def supervisord(layout: PoolLayout) -> Iterator[subprocess.Popen[bytes]]:
    process = start_supervisord(layout)
    yield process
    stop_supervisord(process)


@pytest.fixture
async def machine(layout: PoolLayout, supervisord: subprocess.Popen[bytes]) -> AsyncIterator[Machine]:
    """A pool of two free slots on the module's supervisord."""
    machine = await connect(layout, supervisord)
    yield machine
    await machine.pool.close()
    await machine.pool.sweep()


@pytest.fixture
async def own_machine(own_layout: PoolLayout) -> AsyncIterator[Machine]:
    """The same with a supervisord of its own, which the test may end."""
    process = start_supervisord(own_layout)
    yield await connect(own_layout, process)
    stop_supervisord(process)
