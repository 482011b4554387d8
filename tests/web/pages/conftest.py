from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser
from pydantic import SecretStr

from tests.web.api.running import RunningServer, run_server
from tests.web.browsing import EMAIL, PASSWORD, Visitor, launch, visit


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("pages")
    yield from run_server(folder, admin_email=EMAIL, admin_password=SecretStr(PASSWORD), openai_api_key=SecretStr("x"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from launch()


@pytest.fixture
def stranger(browser: Browser, server: RunningServer) -> Iterator[Visitor]:
    with visit(browser, server.url) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def cookies(browser: Browser, server: RunningServer) -> Sequence[Any]:
    """What a browser holds after Eva's sign-in."""
    with visit(browser, server.url) as visitor:
        visitor.sign_in()
        visitor.page.wait_for_url(f"{server.url}/")
        return visitor.page.context.cookies()


@pytest.fixture
def eva(stranger: Visitor, cookies: Sequence[Any]) -> Visitor:
    """Somebody who has signed in and is on the start page."""
    stranger.take_cookies(cookies)
    stranger.open("/")
    return stranger
