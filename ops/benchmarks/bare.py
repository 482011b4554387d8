"""The reference: the same work as hand-written Playwright on its own display, with nothing around it."""

import asyncio
import contextlib
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error, Page, async_playwright
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
TABS = 6
"""Pages that are read side by side."""
LIST_LINKS = "() => [...document.querySelectorAll('main li a')].map(link => link.href)"
READ_PAGE = """() => [
    document.body.innerText,
    ...[...document.querySelectorAll("script[type='application/ld+json']")].map(block => block.text),
]"""


@dataclass(frozen=True)
class Extraction:
    """What one extraction took in seconds: in all, of the listing and of the details; and of processor time."""

    total: float
    listing: float
    details: float
    cpu: float


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
        context = playwright.chromium.launch_persistent_context(folder, **_options(display))
        yield context
        context.close()


def _options(display: str) -> dict[str, Any]:
    """Return how Chromium is started: with a window on the display, like the product's."""
    return {
        "executable_path": "/usr/bin/chromium",
        "headless": False,
        "no_viewport": True,
        "env": {**os.environ, "DISPLAY": display},
        "args": list(FLAGS),
    }


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


def time_extract(url: str, count: int) -> Extraction:
    """Return what it takes to read a listing and each of its pages; raises RuntimeError when not all were read."""
    used = _processor_seconds()
    begun = time.perf_counter()
    with open_display() as display:
        listing, details = asyncio.run(_extract(url, count, display))
    total = time.perf_counter() - begun
    return Extraction(total, listing, details, _processor_seconds() - used)


async def _extract(url: str, count: int, display: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(folder, **_options(display))
            begun = time.perf_counter()
            page = context.pages[0]
            await page.goto(url)
            links: list[str] = await page.evaluate(LIST_LINKS)
            await _take_picture(page)
            listed = time.perf_counter()
            places = asyncio.Semaphore(TABS)

            async def read(link: str) -> dict[str, Any]:
                async with places:
                    tab = await context.new_page()
                    await tab.goto(link)
                    _, stated = await tab.evaluate(READ_PAGE)
                    await tab.close()
                    return json.loads(stated)

            found = await asyncio.gather(*map(read, links))
            if len({facts["sku"] for facts in found}) != count:
                raise RuntimeError(f"The bare script read {len(found)} pages, not {count}.")
            read_all = time.perf_counter()
            await context.close()
    return listed - begun, read_all - listed


async def _take_picture(page: Page) -> None:
    """Take a picture; Chromium refuses one now and then on a busy machine, and gives it when asked again."""
    for is_last in (False, False, True):
        try:
            await page.screenshot(type="jpeg", quality=80)
        except Error:
            if is_last:
                raise
        else:
            return


def _processor_seconds() -> float:
    """Return what this process and its children that have ended have used."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))
