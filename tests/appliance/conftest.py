from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.persistence.database import Database
from appliance.persistence.migration import migrate


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    await migrate(url)
    database = Database(url)
    await database.open()
    yield database
    await database.close()
