from collections.abc import Iterator

import pytest

from tests.web.api.running import RunningServer, run_server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    yield from run_server(tmp_path_factory.mktemp("server"))
