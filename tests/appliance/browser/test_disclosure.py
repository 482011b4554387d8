import asyncio

from appliance.browser.connection import Browser
from tests.appliance.browser.look import click, find, line_with
from tests.site import Site


async def log_of(browser: Browser, words: str) -> str:
    """Return what the page noted, once the words are in it (its listeners run after the input was taken)."""
    async with asyncio.timeout(10):
        while words not in (log := str(await browser.tab.evaluate("document.getElementById('log').textContent"))):
            await browser.settle(0.5)
    return log


async def test_what_stands_in_closed_shadow_roots_is_shown_and_takes_trusted_clicks(
    browser: Browser, site: Site
) -> None:
    await browser.tab.navigate(site.url("/zoo_closed.html"))

    seen = await browser.observe(with_screenshot=False)

    assert list(seen.lines) == [
        "# Closed roots",
        "[1]<input>Card",
        "[2]<button>Pay now",
        "[3]<button>Plain button",
        "[4]<a href=/inside>Inside link",
        "Declared text",
        "[5]<button>Declared button",
        "[6]<button>Unslotted button",
        "## Slotted title",
        "[7]<button>Deep button",
    ]
    for name, words in (("Plain", "plain"), ("Declared b", "declared"), ("Unslotted", "unslotted"), ("Deep", "deep")):
        await click(browser, find(browser, seen, f">{name}"))
        assert f"{words}:true" in await log_of(browser, words)


async def test_text_that_stands_in_a_shadow_root_by_itself_is_read(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/secret_shown.html"))

    seen = await browser.observe(with_screenshot=False)

    assert line_with(seen, "In a root") == "In a root: hunter-22"
    assert not seen.notes


async def test_closed_roots_stay_known_and_later_ones_are_found(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_closed.html"))
    first = await browser.observe(with_screenshot=False)
    await browser.tab.evaluate("document.body.append(document.createElement('inner-box'))")

    second = await browser.observe(with_screenshot=False)

    assert second.lines[: len(first.lines)] == first.lines
    assert second.lines[-1] == "*[8]<button>Deep button"
    assert await browser.tab.evaluate("document.querySelector('pay-box').shadowRoot") is None


async def test_elements_that_react_through_listeners_alone_are_numbered(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_reacting.html"))

    seen = await browser.observe(with_screenshot=False)

    lines = [line.strip() for line in seen.lines]
    assert "Just text" in lines
    assert "No control here" in lines
    assert "- Heading only" in lines
    for name, words in (
        ("<div>Silent div", "silent"),
        ("<div>Tile with text", "tile"),
        ("<li>Second entry", "entry2"),
        ("<div>Archive it", "archive"),
        ("<path>North", "north"),
        ("<rect id=south>", "south"),
        ("<area href=#kitchen>Kitchen", "#kitchen"),
        ("<area href=#hall>Hall", "#hall"),
        ("<area href=#garden>Garden", "#garden"),
    ):
        await click(browser, find(browser, seen, name))
        assert "false" not in await log_of(browser, f" {words}")


async def test_icons_without_words_are_told_apart(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_reacting.html"))

    seen = await browser.observe(with_screenshot=False)

    for words in ("<button icon=icon-trash>", "<button>Print", "<button icon=cart>", "icon=twitter-logo>"):
        assert line_with(seen, words)
    assert line_with(seen, "<button icon=basket-full>")
    nameless = [line for line in seen.lines if "<button at=" in line]
    assert len(nameless) == len(set(nameless)) == 2


async def test_an_element_that_begins_to_listen_later_is_numbered_then(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_reacting.html"))
    first = await browser.observe(with_screenshot=False)
    assert line_with(first, "No control here") == "No control here"
    await browser.tab.evaluate(
        """const words = document.getElementById('words'); words.className = 'live';
        words.addEventListener('click', (event) => log('words', event))"""
    )

    second = await browser.observe(with_screenshot=False)

    assert line_with(second, "No control here").endswith("<p>No control here")
    await click(browser, find(browser, second, "No control here"))
    assert await log_of(browser, "words:true")
