from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy

OpenBrowser = Callable[[], Awaitable[Browser]]


@pytest.fixture
async def open_browser(display: int, policy: Policy, tmp_path: Path) -> AsyncIterator[OpenBrowser]:
    """Starts a browser that has seen nothing yet, as often as it is called."""
    async with AsyncExitStack() as undo:
        count = 0

        async def start() -> Browser:
            nonlocal count
            count += 1
            chromium = await Chromium.start(
                ChromiumOptions("", display, 0, tmp_path / f"browser{count}", width=1280, height=800)
            )
            undo.push_async_callback(chromium.stop)
            browser = await Browser.attach(chromium.websocket_url, policy=policy, downloads_dir=tmp_path / "downloads")
            undo.push_async_callback(browser.close)
            return browser

        yield start
