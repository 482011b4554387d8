"""How long a page takes to be read into lines, beside a bare walker in the same page that finds its controls only.

The text part alone, without a picture: that is taken beside it. Changed pages got a new element since the reading
before, as after a click: then the browser is asked anew what listens for clicks.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from ops.benchmarks import bare
from ops.benchmarks.measures import Figure
from tests.site import Site

LIMITS = {1_000: 12.0, 10_000: 40.0, 50_000: 150.0}
"""Milliseconds by number of nodes."""
ROUNDS = 15

WALKER = """(() => {
  const found = [];
  for (const one of document.body.getElementsByTagName("*")) {
    const isControl = /^(A|BUTTON|INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(one.tagName) || one.hasAttribute("role") ||
      one.hasAttribute("onclick") || one.tabIndex >= 0;
    if (!isControl) continue;
    const box = one.getBoundingClientRect();
    if (box.bottom < -1000 || box.top > innerHeight + 1000 || !box.width) continue;
    const style = getComputedStyle(one);
    if (style.visibility !== "visible" || style.display === "none") continue;
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    found.push(`${one.tagName} ${(one.innerText || one.value || "").slice(0, 80)} ${!hit || one.contains(hit)}`);
  }
  return found.join("\\n");
})()"""
TOUCH = "document.body.append(document.createElement('p'))"


def measure_observe() -> list[Figure]:
    """Measure reading pages of 1,000, 10,000 and 50,000 nodes, unchanged and changed."""
    with bare.open_display() as display, Site() as site, tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(int(display[1:]), site, Path(folder)))


async def _measure(display: int, site: Site, folder: Path) -> list[Figure]:
    chromium = await Chromium.start(ChromiumOptions("", display, 0, folder, width=1920, height=1080))
    browser = await Browser.attach(chromium.websocket_url, policy=Policy(private_allowed=("loopback",)))
    figures: list[Figure] = []
    try:
        for nodes, limit in LIMITS.items():
            await browser.tab.navigate(site.url(f"/rows?nodes={nodes}"))
            figures += await _measure_page(browser, f"{nodes:,} nodes", limit)
    finally:
        await browser.close()
        await chromium.stop()
    return figures


async def _measure_page(browser: Browser, name: str, limit: float) -> list[Figure]:
    await browser.settle(60, at_least=1.0)
    first = await _time_reading(browser)
    same: list[float] = []
    changed: list[float] = []
    walker: list[float] = []
    walker_changed: list[float] = []
    for _ in range(ROUNDS):
        same.append(await _time_reading(browser))
        walker.append(await _time_walker(browser))
    for _ in range(ROUNDS):
        await browser.tab.evaluate(TOUCH)
        changed.append(await _time_reading(browser))
        await browser.tab.evaluate(TOUCH)
        walker_changed.append(await _time_walker(browser))
    reference = statistics.median(walker)
    return [
        Figure(f"{name}, first reading", first, "ms"),
        Figure(f"{name}, unchanged", statistics.median(same), "ms", limit, reference),
        Figure(f"{name}, unchanged, fastest", min(same), "ms", limit, min(walker)),
        Figure(f"{name}, changed", statistics.median(changed), "ms", None, statistics.median(walker_changed)),
    ]


async def _time_walker(browser: Browser) -> float:
    begun = time.perf_counter()
    await browser.tab.evaluate(WALKER)
    return (time.perf_counter() - begun) * 1000


async def _time_reading(browser: Browser) -> float:
    begun = time.perf_counter()
    seen = await browser.observe(with_screenshot=False)
    if not seen.lines:
        raise RuntimeError(f"The page was not read: {seen.notes}")
    return (time.perf_counter() - begun) * 1000
