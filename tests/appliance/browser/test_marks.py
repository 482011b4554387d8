"""What the marks of elements say, and that it is true: by clicks on pages that note what reached them."""

import pytest

from appliance.browser.connection import Browser
from tests.appliance.browser.look import click, find, line_with, observe_from
from tests.appliance.browser.test_disclosure import log_of
from tests.site import Site


async def test_texts_of_one_character_and_texts_side_by_side_are_kept_apart(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_marks.html"))

    seen = await browser.observe(with_screenshot=False)

    lines = [line.strip() for line in seen.lines]
    for text in ("Quantity: 7", "Grade | A", "4", "Onewords stay together"):
        assert text in lines
    start = lines.index("Soft")
    assert lines[start : start + 5] == ["Soft", "cover", "book", "12 €", "left over"]


async def test_states_of_fields_are_told_and_styled_controls_joined_with_their_labels(
    browser: Browser, site: Site
) -> None:
    await browser.tab.navigate(site.url("/zoo_marks.html"))

    seen = await browser.observe(with_screenshot=False)

    def shows(text: str) -> str:
        return line_with(seen, text).partition("]")[2]

    assert shows("Styled box") == "<input type=checkbox>Styled box"
    assert shows("Chosen radio") == "<input type=radio checked>Chosen radio"
    assert shows(">Colour") == '<select value=Green options="Red | Green">Colour'
    assert shows(">Toppings") == '<select value="Ham, Leek" multiple options="Ham | Egg | Leek">Toppings'
    assert shows(">Day") == "<input type=date value=2026-03-15>Day"
    assert shows(">Volume") == "<input type=range value=4 min=0 max=11>Volume"
    assert shows(">Locked") == "<input value=fixed readonly>Locked"
    assert shows(">Off") == "<input value=x disabled>Off"
    assert shows(">Sections") == "<button expanded=false>Sections"
    assert shows("Clipped away") == '<button covered-by="cut off by its container">Clipped away'
    assert shows("Inert button") == "<button inert>Inert button"
    await click(browser, find(browser, seen, "Styled box"))
    assert "boxtrue:true" in await log_of(browser, "boxtrue")
    seen = await browser.observe(with_screenshot=False)
    assert shows("Styled box") == "<input type=checkbox checked focused>Styled box"


async def test_a_long_value_is_cut_with_its_length_and_can_be_read_in_full(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_marks.html"))

    seen = await browser.observe(with_screenshot=False)

    assert line_with(seen, ">Long").endswith('xxx…" length=408>Long')
    assert "the end" not in line_with(seen, ">Long")
    assert "length=1091>Story" in line_with(seen, ">Story")


async def test_an_area_that_scrolls_by_itself_says_how_far_and_its_elements_are_reached(
    browser: Browser, site: Site
) -> None:
    await browser.tab.navigate(site.url("/zoo_marks.html"))
    seen = await browser.observe(with_screenshot=False)
    area = find(browser, seen, "(area that scrolls by itself: 0 px above,")
    assert area.view.tag == "div"

    await click(browser, find(browser, seen, ">Row 25"))

    assert "row25:true" in await log_of(browser, "row25")
    seen = await browser.observe(with_screenshot=False)
    assert "0 px above" not in line_with(seen, "(area that scrolls by itself")


async def test_layers_cover_what_a_click_would_not_reach_and_nothing_else(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_layers.html"))
    seen = await browser.observe(with_screenshot=False)
    assert line_with(seen, "Under the veil").endswith('<button covered-by="dialog Offer">Under the veil')
    assert line_with(seen, ">Free").endswith("<button>Free")
    await click(browser, find(browser, seen, ">Free"))
    assert "free:true" in await log_of(browser, "free")

    await click(browser, find(browser, seen, "Close offer"))
    await log_of(browser, "closed")
    seen = await browser.observe(with_screenshot=False)
    assert line_with(seen, "Under the veil").endswith("<button>Under the veil")
    await click(browser, find(browser, seen, "Under the veil"))
    assert "under:true" in await log_of(browser, "under")


async def test_a_modal_dialog_covers_the_page_until_it_is_closed(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_layers.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, ">Ask"))
    await browser.settle()
    seen = await browser.observe(with_screenshot=False)
    assert any("modal dialog" in note for note in seen.notes)
    assert "covered-by" in line_with(seen, ">Free")

    await click(browser, find(browser, seen, ">Yes"))
    assert "yes:true" in await log_of(browser, "yes")
    seen = await browser.observe(with_screenshot=False)
    assert not seen.notes
    assert line_with(seen, ">Free").endswith("<button>Free")


@pytest.mark.parametrize("words", ["اشتر الآن", "يسار"])
async def test_a_page_that_is_written_from_right_to_left_is_read_and_clicked(
    browser: Browser, site: Site, words: str
) -> None:
    await browser.tab.navigate(site.url("/zoo_rtl.html"))
    seen = await browser.observe(with_screenshot=False)
    assert "السعر: ١٢ دينار" in seen.lines

    await click(browser, find(browser, seen, f"<button>{words}"))

    assert (await log_of(browser, words[:3])).strip()


async def test_an_old_page_without_a_doctype_is_shown_around_what_is_in_view(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_quirks.html"))
    first = await browser.observe(with_screenshot=False)
    assert first.lines[:4] == ("# Old page", "Welcome", " [1]<a href=#one>One", " [2]<a href=#two>Two")
    assert sum(map(len, first.lines)) < 10_000
    assert first.total_lines > 3000
    assert first.scroll.below > 1000

    await browser.tab.evaluate("document.querySelector('[href=\"#l1200\"]').scrollIntoView({ block: 'center' })")
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, "<a href=#l1200>"))
    await browser.settle()
    assert browser.tab.url.endswith("#l1200")


async def test_a_row_of_a_huge_table_is_looked_at_and_its_button_clicked(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_table.html"))
    first = await browser.observe(with_screenshot=False)
    assert first.lines[1].strip() == "Nr | Name | Price | Do"

    seen = await observe_from(browser, first.total_lines - 10)
    at = next(place for place, line in enumerate(seen.lines) if line.strip() == "2999 | Part 2999 | 8997 €")
    button = seen.lines[at + 1].strip()
    await click(browser, browser.element(int(button[1:].partition("]")[0])))

    assert await log_of(browser, "ordered 2999")
