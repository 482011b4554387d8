"""Fixtures for tests with a real display, a real Chromium and a real web site."""

import asyncio
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from tests.calm import CALM_MACHINE
from tests.site import Site

os.environ["PRESSURE_PATH"] = str(CALM_MACHINE)


@pytest.fixture(scope="session")
def display() -> Iterator[int]:
    """A number of an X display of our own."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=(write,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as numbers:
        number = int(numbers.readline())
    yield number
    server.terminate()
    server.wait(10)


class ChromiumThread:
    """A Chromium whose pipes are served by a loop of its own, so that tests on any loop can share it."""

    def __init__(self, options: ChromiumOptions) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.chromium = asyncio.run_coroutine_threadsafe(Chromium.start(options), self._loop).result(60)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.chromium.stop(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@pytest.fixture(scope="session")
def chromium(display: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """A running Chromium that all tests of a worker share; do not kill it."""
    profile = tmp_path_factory.mktemp("profile")
    holder = ChromiumThread(ChromiumOptions("", display, 0, profile, width=1280, height=800))
    yield holder.chromium
    holder.stop()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The test site."""
    with Site() as site:
        yield site


@pytest.fixture
def policy() -> Policy:
    """A policy that lets the test site through."""
    return Policy(private_allowed=("loopback",))


@pytest.fixture
async def browser(chromium: Chromium, policy: Policy, tmp_path: Path) -> AsyncIterator[Browser]:
    """A browser attached to the shared Chromium, with one fresh empty tab."""
    browser = await Browser.attach(chromium.websocket_url, policy=policy, downloads_dir=tmp_path / "downloads")
    old = [tab.tab_id for tab in await browser.list_tabs()]
    await browser.open_tab("about:blank")
    for tab_id in old:
        await browser.close_tab(tab_id)
    yield browser
    await browser.close()
