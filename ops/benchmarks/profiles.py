"""How long it takes to give a browser what a profile keeps, and to take it back.

300 cookies and 50 sites with 20 entries each. Of the sites a session opens five as a rule; with all opened, and left
again, is the worst case.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.browser.storage.in_use import StorageInUse
from appliance.profiles.jar import Cookie, Jar, Origin, make_jar
from appliance.profiles.merge import Side, merge
from ops.benchmarks import bare
from ops.benchmarks.measures import Figure
from tests.loopback import serve_pages

COOKIES, ORIGINS, ENTRIES = 300, 50, 20
FEW = 5
ROUNDS = 7
RESTORING, SAVING, MERGING = 60.0, 300.0, 30.0
"""Limits in milliseconds."""


def measure_profiles() -> list[Figure]:
    """Measure restoring and saving beside a browser that has nothing else to do."""
    with (
        bare.open_display() as display,
        serve_pages(lambda _: b"<title>Site</title><h1>Site</h1>") as address,
        tempfile.TemporaryDirectory() as folder,
    ):
        figures = asyncio.run(_measure(int(display[1:]), address.rpartition(":")[2].rstrip("/"), Path(folder)))
    return [*figures, measure_merge()]


def measure_merge() -> Figure:
    """Measure a merge in which both sides have changed a fiftieth of 5,000 cookies and 2,000 keys."""
    base, theirs, ours = (_changed_jar(value) for value in ("base", "theirs", "ours"))
    seconds: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        merged = merge(base, Side(theirs, 1), Side(ours, 2))
        seconds.append(time.perf_counter() - start)
        assert len(merged.conflicts) == 140
    return Figure("merging 5,000 cookies, 2,000 keys", statistics.median(seconds) * 1000, "ms", MERGING)


def _changed_jar(value: str) -> Jar:
    def pick(number: int) -> str:
        return "unchanged" if number % 50 else value

    cookies = [Cookie(f"cookie{one}", pick(one), f"site{one % 300}.example", expires=4e9) for one in range(5_000)]
    entries = [{f"entry{one}": pick(one) for one in range(site, 2_000, 50)} for site in range(50)]
    return make_jar(cookies, [Origin(f"https://site{site}.example", kept) for site, kept in enumerate(entries)])


async def _measure(display: int, port: str, folder: Path) -> list[Figure]:
    chromium = await Chromium.start(ChromiumOptions("", display, 0, folder, width=1280, height=800))
    browser = await Browser.attach(chromium.websocket_url, policy=Policy(private_allowed=("loopback",)))
    try:
        return await _measure_in(browser, port)
    finally:
        await browser.close()
        await chromium.stop()


async def _measure_in(browser: Browser, port: str) -> list[Figure]:
    jar = _jar(port)
    seconds: list[float] = []
    storage = await StorageInUse.restore(browser, Jar())
    for _ in range(ROUNDS):
        storage.close()
        await browser.cdp.send("Storage.clearCookies")
        start = time.perf_counter()
        storage = await StorageInUse.restore(browser, jar)
        seconds.append(time.perf_counter() - start)
    await _open(browser, port, range(FEW))
    few = await _timed(storage.capture)
    await _open(browser, port, range(ORIGINS))
    every = await _timed(storage.capture)
    again = (await storage.capture()).jar
    assert {one.origin: one for one in again.origins} == {one.origin: one for one in jar.origins}
    assert len(again.cookies) == COOKIES
    name = f"{COOKIES} cookies, {ORIGINS} origins"
    return [
        Figure(f"restoring {name}", statistics.median(seconds) * 1000, "ms", RESTORING),
        Figure(f"saving {name}, {FEW} opened", few * 1000, "ms", SAVING),
        Figure(f"saving {name}, all opened", every * 1000, "ms", SAVING),
    ]


async def _open(browser: Browser, port: str, numbers: range) -> None:
    for number in numbers:
        await browser.tab.load(f"{_origin(number, port)}/")


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


def _jar(port: str) -> Jar:
    later = float(int(time.time()) + 86_400)
    cookies = tuple(
        Cookie(f"cookie{number}", "v" * 40, f"site{number % ORIGINS}.example", expires=later, secure=True)
        for number in range(COOKIES)
    )
    entries = {f"entry{number}": "v" * 40 for number in range(ENTRIES)}
    return Jar(cookies, tuple(Origin(_origin(number, port), entries) for number in range(ORIGINS)))


def _origin(number: int, port: str) -> str:
    return f"http://site{number}.localhost:{port}"
