from collections.abc import Iterator

import httpx
import pytest
from browser_use_sdk.v3 import BrowserUse

from tests.web.api.running import KEY, RunningServer, run_server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    yield from run_server(tmp_path_factory.mktemp("server"))


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    """A client that has the key, for plain requests."""
    with server.client() as http:
        yield http


@pytest.fixture
def client(server: RunningServer) -> Iterator[BrowserUse]:
    """The cloud's own client, pointed at the server."""
    client = BrowserUse(api_key=KEY, base_url=f"{server.url}/api/v3")
    yield client
    client.close()
