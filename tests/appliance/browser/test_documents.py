"""Frames in processes of their own, one inside the other, in sandboxes, and hung."""

import asyncio
import json

import pytest

from appliance.browser.cdp import CdpTimeout
from appliance.browser.connection import Browser
from appliance.browser.observation import Observation
from tests.appliance.browser.look import click, find, line_with
from tests.site import Site


async def frame_hosts(browser: Browser) -> list[str]:
    """Return the hosts of the frames that have processes of their own, as the browser itself tells."""
    targets = await browser.cdp.send("Target.getTargets", {"filter": [{"type": "iframe"}]})
    return sorted(info["url"].split("/")[2].split(":")[0] for info in targets["targetInfos"])


async def observe_all(browser: Browser, *texts: str) -> Observation:
    """Observe until all the texts are there: frames load one after the other."""
    async with asyncio.timeout(20):
        while True:
            seen = await browser.observe(with_screenshot=False)
            if all(any(text in line for line in seen.lines) for text in texts):
                return seen
            await browser.settle(0.5)


async def test_frames_out_of_process_are_read_and_clicked_however_deep(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_frames.html"))
    seen = await observe_all(browser, "Inside outer", "Inside deep", "Inside boxed", "Inside srcdoc")
    assert {"127.0.0.2", "127.0.0.3"} <= set(await frame_hosts(browser))
    lines = [line.strip() for line in seen.lines]
    order = [lines.index(f"Inside {name}") for name in ("outer", "deep", "boxed", "srcdoc")]
    assert order == sorted(order)

    presses = [view.index for view in seen.elements.values() if view.name == "Press"]
    assert len(presses) == 4
    for index in presses:
        await click(browser, browser.element(index))

    seen = await observe_all(browser, *(f"Clicked in {name}: true" for name in ("outer", "deep", "boxed", "srcdoc")))
    assert [seen.elements[index].name for index in presses] == [
        f"Clicked in {name}: true" for name in ("outer", "deep", "boxed", "srcdoc")
    ]


async def test_a_hung_frame_is_one_line_and_the_rest_of_the_page_is_there(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_frames.html?hung"))
    async with asyncio.timeout(20):
        while "localhost" not in await frame_hosts(browser):
            await browser.settle(0.5)
    with pytest.raises(CdpTimeout):
        # Until the loop has begun; nothing tells when.
        await browser.cdp.wait_for("Page.loadEventFired", timeout=0.5)

    seen = await observe_all(browser, "Inside deep", "Inside boxed", "this frame is not read")
    assert line_with(seen, "this frame is not read").startswith("(this frame is not read: it did not answer within")
    assert line_with(seen, "The end")
    again = await browser.observe(with_screenshot=False)
    assert line_with(again, "this frame is not read") == "(this frame is not read: it did not answer within 0.5 s)"
    await click(browser, find(browser, again, "Outside"))
    assert (await observe_all(browser, "Clicked outside: true")).elements


async def test_content_holds_frames_of_all_kinds_with_whole_addresses(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_frames.html"))
    await observe_all(browser, "Inside outer", "Inside deep", "Inside boxed", "Inside srcdoc")

    markdown = (await browser.read_content()).markdown

    order = [markdown.index(f"Inside {name}") for name in ("outer", "deep", "boxed", "srcdoc")]
    assert order == sorted(order)
    for host in (1, 2, 3):
        assert f"[Relative link]({site.url('/relative/page', host)})" in markdown


async def test_a_function_runs_in_every_document(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_frames.html"))
    await observe_all(browser, "Inside outer", "Inside deep", "Inside boxed")

    answers = await browser.run_everywhere("(word) => word + document.title", "in ")

    assert answers[0].value == "in Frames zoo"
    assert sorted(answer.value for answer in answers[1:]) == ["in Inside"] * 3
    assert sorted(answer.url.partition("?")[2] for answer in answers[1:]) == ["boxed", "deep", "outer"]


@pytest.mark.parametrize("host", [1, 2])
@pytest.mark.parametrize(
    "element",
    [
        '<iframe src="{url}" width="400" height="300"></iframe>',
        '<embed src="{url}" type="application/pdf" width="400" height="300">',
        '<object data="{url}" type="application/pdf" width="400" height="300"></object>',
    ],
)
async def test_a_pdf_in_a_page_is_read_in_its_place(browser: Browser, site: Site, element: str, host: int):
    await browser.tab.navigate(site.url("/act_second.html"))
    await browser.tab.evaluate("document.querySelectorAll('iframe').forEach((frame) => frame.remove())")
    inside = element.format(url=site.url("/pdf?text=Total+of+the+invoice+is+42", host))
    html = json.dumps(f"<main><p>Above it</p>{inside}<p>Below it</p></main>")
    await browser.tab.evaluate(f"document.body.innerHTML = {html}")
    text = ""
    async with asyncio.timeout(20):
        while "Total of the invoice is 42" not in text:
            await browser.settle(at_least=0.1)
            text = (await browser.read_content()).markdown
    assert text.index("Above it") < text.index("## Page 1") < text.index("Total of") < text.index("Below it")
