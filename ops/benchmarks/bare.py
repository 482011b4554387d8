"""The reference: the same work as hand-written Playwright on its own display, with nothing around it."""

import contextlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Generator

from playwright.sync_api import BrowserContext, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1920,1080",
)
LIST_ELEMENTS = (
    "() => [...document.querySelectorAll('a,button,input,select,textarea')].map(e => e.innerText || e.value)"
)


@contextlib.contextmanager
def open_display() -> Generator[str]:
    """Start Xvfb on a display number of its own choosing and yield it in the form ":N"."""
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    try:
        with os.fdopen(read_end) as stream:
            yield f":{stream.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def open_browser(display: str) -> Generator[BrowserContext]:
    """Start Chromium by Playwright on the display and yield its context."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path="/usr/bin/chromium",
            headless=False,
            no_viewport=True,
            env={**os.environ, "DISPLAY": display},
            args=list(FLAGS),
        )
        yield context
        context.close()


def time_start() -> float:
    """Return the seconds from nothing to a blank tab that answers; no picture is taken of it, as in the product."""
    begun = time.perf_counter()
    with open_display() as display, open_browser(display) as context:
        context.pages[0].evaluate(LIST_ELEMENTS)
        return time.perf_counter() - begun


def time_click_steps(url: str, count: int) -> float:
    """Return the median seconds of one click, look and picture on the page."""
    seconds: list[float] = []
    with open_display() as display, open_browser(display) as context:
        page = context.pages[0]
        page.goto(url)
        for _ in range(count):
            begun = time.perf_counter()
            page.get_by_role("button", name="Count").click()
            page.evaluate(LIST_ELEMENTS)
            page.screenshot(type="jpeg", quality=80)
            seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)
