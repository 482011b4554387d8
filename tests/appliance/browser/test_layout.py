import asyncio
import re

import pytest

from appliance.browser.connection import Browser
from appliance.browser.observation import Observation
from tests.appliance.browser.look import click, find, index_of, line_with, observe_from
from tests.site import Site

GAP = re.compile(r"… (\d+) more lines (above|below|in between) \((\d+)-(\d+)\)")


async def observe_surely(browser: Browser, line: int = 0) -> Observation:
    """Observe again as long as the page is too busy to be read, which on a loaded machine a large one may be."""
    async with asyncio.timeout(90):
        while not (seen := await observe_from(browser, line)).lines:
            await browser.settle(1.0)
    return seen


async def test_windows_that_follow_one_another_show_every_element_of_a_long_page(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=5000"))
    first = await browser.observe(with_screenshot=False)
    wanted = {f"Buy {number}" for number in range(1, 501)} - {view.name for view in first.elements.values()}

    line = first.last_line + 1
    while line <= first.total_lines:
        seen = await observe_from(browser, line)
        assert seen.first_line == line
        wanted -= {view.name for view in seen.elements.values()}
        line = seen.last_line + 1

    assert not wanted


async def test_an_element_anywhere_on_a_page_of_fifty_thousand_nodes_is_looked_at_and_clicked(
    browser: Browser, site: Site
) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=50000"))
    note = "addEventListener('click', (event) => { document.title = event.target.textContent })"
    await browser.tab.evaluate(note, timeout=60)
    first = await observe_surely(browser)
    assert first.total_lines > 30_000

    for share in (0.4, 1.0):
        line = round(first.total_lines * share) - 20
        seen = await observe_surely(browser, line)
        assert seen.first_line == line
        button = next(view for view in seen.elements.values() if view.name.startswith("Buy"))
        await click(browser, browser.element(button.index))
        after = await observe_surely(browser)
        assert after.title == button.name
        assert after.scroll.above > 10_000


async def test_a_window_tells_the_numbers_of_the_lines_around_it_and_comes_once(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=10000"))
    first = await browser.observe(with_screenshot=False)
    below = GAP.fullmatch(first.lines[-1])
    assert below
    assert (below[2], int(below[3]), int(below[4])) == ("below", first.last_line + 1, first.total_lines)

    browser.look_from(int(below[3]))
    second = await browser.observe(with_screenshot=False)
    third = await browser.observe(with_screenshot=False)

    above = GAP.fullmatch(second.lines[0])
    assert above
    assert (above[2], above[3], above[4]) == ("above", "1", str(first.last_line))
    assert third.lines == first.lines
    assert third.first_line == 1


async def test_numbers_stay_and_stay_usable_from_window_to_window(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=10000"))
    first = await browser.observe(with_screenshot=False)
    early = find(browser, first, "<a href=/item/3>")

    second = await observe_from(browser, 3000)
    again = await observe_from(browser, 3000)

    assert second.lines == again.lines
    assert not set(first.elements) & set(second.elements)
    assert not any("*[" in line for line in second.lines)
    assert await browser.element(index_of(first, "<a href=/item/3>")).call("function () { return this.textContent }")
    assert (await early.click_point()).covered_by is None


async def test_a_line_number_beyond_the_end_shows_the_end(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=1000"))
    total = (await browser.observe(with_screenshot=False)).total_lines

    seen = await observe_from(browser, total + 5000)

    assert (seen.first_line, seen.last_line) == (total, total)


@pytest.mark.parametrize("host", [1, 2])
async def test_lines_of_a_long_frame_are_counted_and_reached(browser: Browser, site: Site, host: int) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    frame = f'<p>Before</p><iframe src="{site.url("/rows?nodes=5000", host)}"></iframe><p>After</p>'
    await browser.tab.evaluate(
        f"""document.body.innerHTML = {frame!r};
        new Promise((resolve) => document.querySelector('iframe').addEventListener('load', resolve))"""
    )
    first = await browser.observe(with_screenshot=False)
    assert first.lines[0].strip() == "Before"
    assert any(line.strip() == "After" for line in first.lines)
    assert first.total_lines > 3000
    assert first.last_line == first.total_lines
    gaps = [GAP.fullmatch(line.strip()) for line in first.lines]
    assert sum(int(gap[1]) if gap else 1 for gap in gaps) == first.total_lines

    seen = await observe_from(browser, first.total_lines - 30)

    assert line_with(seen, "<button>Buy 500")
    assert seen.first_line == first.total_lines - 30
    await click(browser, find(browser, seen, "<button>Buy 500"))
