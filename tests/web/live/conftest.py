from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from pydantic import SecretStr

from tests.web.api.running import RunningServer, run_server
from tests.web.browsing import EMAIL, PASSWORD, launch


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("live")
    yield from run_server(folder, admin_email=EMAIL, admin_password=SecretStr(PASSWORD))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from launch()
