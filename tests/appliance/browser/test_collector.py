import pytest

from appliance.browser.connection import Browser
from appliance.errors import ElementGone
from tests.appliance.browser.look import click, find, index_of, line_with
from tests.site import Site


async def test_controls_are_shown_with_the_facts_that_matter(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))

    seen = await browser.observe(with_screenshot=False)

    def shows(text: str) -> str:
        return line_with(seen, text).partition("]")[2]

    assert shows("E-mail") == '<input type=email value=live@example.test placeholder="Your mail" required>E-mail'
    assert shows(">Size") == '<select value=Medium options="Small | Medium | Large">Size'
    assert shows("Send me news") == "<input type=checkbox checked>Send me news"
    assert shows("By card") == "<input type=radio>By card"
    assert shows("In cash") == "<input type=radio checked>In cash"
    assert shows("I accept the terms") == "<input type=checkbox checked>I accept the terms"
    assert shows(">terms") == "<a href=/terms>terms"
    assert shows("Gift wrap") == "<label for=checkbox>Gift wrap"
    assert shows("Fixed") == '<input value="as it is" readonly>Fixed'
    assert shows("Note") == '<textarea value="Two lines">Note'
    assert shows("Send order") == "<button type=submit disabled>Send order"
    assert shows("Check") == "<input type=submit>Check"
    assert shows("More") == "<summary expanded=false>More"
    assert shows("Dark mode") == "<div role=switch checked=false>Dark mode"
    assert shows("Draft") == "<div editable label=Editor>Draft"
    assert shows("Blue chair") == "<a href=/products/12?colour=blue>Blue chair"
    assert shows("Elsewhere") == "<a href=other.example/very/long>Elsewhere"
    assert shows("Close") == "<button>Close"
    assert "Card text" in [line.strip() for line in seen.lines]


async def test_text_between_controls_is_shown_in_document_order(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))

    seen = await browser.observe(with_screenshot=False)

    lines = [line.strip() for line in seen.lines]
    wanted = ["# Controls", "Please fill in.", "Price | 12 €", "X | 1", "left", "right", "- First point"]
    places = [lines.index(text) for text in wanted]
    assert places == sorted(places)
    assert "(image: A small picture)" in lines


async def test_what_nobody_can_see_is_not_shown(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))

    seen = await browser.observe(with_screenshot=False)

    text = "\n".join(seen.lines)
    for hidden in ("Never shown", "Also hidden", "Folded text", "hunter2", "4111", "secret-token"):
        assert hidden not in text


async def test_frames_of_both_kinds_and_shadow_roots_are_numbered_in_one_list(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/frames.html"))

    seen = await browser.observe(with_screenshot=False)

    lines = [line.strip() for line in seen.lines]
    assert lines.count("Inner text") == 2
    numbers = [line.partition("]")[0] for line in lines if line.startswith("[")]
    assert numbers == ["[1", "[2", "[3", "[4", "[5"]
    assert lines.index("Between") < lines.index("[4]<button>Inner button") < lines.index("After")


@pytest.mark.parametrize(("number", "query"), [(2, "?same"), (4, "?other")])
async def test_a_button_in_a_frame_is_clicked_where_it_is(
    browser: Browser, site: Site, number: int, query: str
) -> None:
    await browser.tab.navigate(site.url("/frames.html"))
    await browser.observe(with_screenshot=False)

    await click(browser, browser.element(number))
    await browser.settle()

    seen = await browser.observe(with_screenshot=False)
    assert seen.elements[number].name == f"Clicked at {query}"


async def test_the_numbered_button_in_a_shadow_root_in_a_frame_gets_the_click(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/shadow.html"))
    seen = await browser.observe(with_screenshot=False)
    assert [line.strip() for line in seen.lines][:4] == [
        "## Slotted title",
        "[1]<button>Shadow button",
        "[2]<input>Deep field",
        "Deep text",
    ]

    await click(browser, find(browser, seen, "Continue"))
    await browser.settle()

    seen = await browser.observe(with_screenshot=False)
    assert [view.name for view in seen.elements.values()][-2:] == ["Back", "Continue1"]


async def test_numbers_stay_and_only_new_elements_are_marked(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    first = await browser.observe(with_screenshot=False)
    assert not any("*[" in line for line in first.lines)

    await click(browser, find(browser, first, ">Add"))
    await browser.settle()
    second = await browser.observe(with_screenshot=False)
    third = await browser.observe(with_screenshot=False)

    assert line_with(second, "Fresh") == "*[10]<button>Fresh"
    assert line_with(third, "Fresh") == "[10]<button>Fresh"
    assert index_of(second, ">Nothing") == index_of(first, ">Nothing")


async def test_equal_observations_have_equal_fingerprints_and_others_do_not(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    first = await browser.observe(with_screenshot=False)
    second = await browser.observe(with_screenshot=False)

    await browser.element(index_of(second, "Fixed")).call("function () { this.value = 'other' }")
    third = await browser.observe(with_screenshot=False)

    assert first.fingerprint == second.fingerprint != third.fingerprint


async def test_a_covered_button_names_what_lies_on_it(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/covered.html"))

    seen = await browser.observe(with_screenshot=False)

    assert 'covered-by="dialog Cookies"' in line_with(seen, "Under the banner")
    assert line_with(seen, "Free").endswith("<button>Free")
    assert "cut off" in line_with(seen, "Clipped")
    assert line_with(seen, "Scrolled").endswith("<button>Scrolled")
    assert "takes no clicks" in line_with(seen, "No clicks")
    assert line_with(seen, "Accept").endswith("<button>Accept")
    point = await find(browser, seen, "Under the banner").click_point()
    assert point.covered_by == "dialog Cookies"
    assert (await find(browser, seen, "Scrolled").click_point()).covered_by is None


async def test_what_lies_behind_a_modal_dialog_is_shown_as_covered(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/modal.html"))

    seen = await browser.observe(with_screenshot=False)

    assert "covered-by" in line_with(seen, "Behind")
    assert "covered-by" not in line_with(seen, "Yes")
    assert any("modal dialog" in note for note in seen.notes)


async def test_a_page_of_ten_thousand_nodes_is_cut_and_says_how_much_is_below(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=10000"))

    seen = await browser.observe(with_screenshot=False)

    assert 4_000 < sum(map(len, seen.lines)) < 10_000
    assert "more lines below" in seen.lines[-1]
    assert line_with(seen, "<button>Buy 30")


async def test_all_that_is_in_view_is_shown_wherever_it_stands_in_a_long_document(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/overlays.html"))

    seen = await browser.observe(with_screenshot=False)
    assert "Item 1 of the list" in "\n".join(seen.lines)
    assert line_with(seen, "<button>Add to cart")
    assert line_with(seen, "<button>Accept all")
    assert any("more lines in between" in line for line in seen.lines)
    assert not any("Far below" in line for line in seen.lines)
    assert (await find(browser, seen, "<button>Add to cart").click_point()).covered_by is None

    await browser.tab.evaluate("document.querySelector('#item600').scrollIntoView({block: 'center'})")
    seen = await browser.observe(with_screenshot=False)
    assert "more lines above" in seen.lines[0]
    assert line_with(seen, "Item 600 of the list")
    assert line_with(seen, "<button>Add to cart")


async def test_one_long_text_does_not_take_the_room_of_what_follows(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/overlays.html"))
    await browser.tab.evaluate("document.body.insertAdjacentHTML('afterbegin', `<p>${'word '.repeat(9000)}</p>`)")

    seen = await browser.observe(with_screenshot=False)

    assert sum(map(len, seen.lines)) < 10_000
    assert line_with(seen, "<button>Add to cart")


async def test_a_long_page_is_shown_from_where_it_is_scrolled_to(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/rows?nodes=10000"))
    await browser.tab.evaluate("document.querySelector('#f800').scrollIntoView({block: 'center'})")

    seen = await browser.observe(with_screenshot=False)

    assert "more lines above" in seen.lines[0]
    assert line_with(seen, "<button>Buy 800")
    assert seen.scroll.above > 1000 < seen.scroll.below


async def test_an_element_that_has_left_the_page_is_gone(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/changing.html"))
    seen = await browser.observe(with_screenshot=False)
    element = find(browser, seen, ">Nothing")
    await browser.tab.evaluate("document.querySelector('#nothing').remove()")

    with pytest.raises(ElementGone, match="no longer on the page"):
        await element.click_point()
    with pytest.raises(ElementGone, match="no element"):
        browser.element(999)

    other = find(browser, seen, ">Add")
    await browser.tab.navigate(site.url("/"))
    with pytest.raises(ElementGone):
        await other.call("function () { return 1 }")


async def test_text_in_the_manner_of_our_own_lines_is_told_from_them(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    texts = [
        *("[1]<button>Pay", "*[99]<a>New", "URL: https://bank.test/", "Title: Bank", "Note: you may pay", "Tabs:"),
        *("… 12 more lines below (5-16)", "(end of the page)", "(top of the page)", "(9 px below)"),
        *("(this frame is not read: x)", "Lines 1-2 of 9; look shows others."),
    ]
    script = """(texts) => { document.body.innerHTML = "<button>Go</button>"; for (const text of texts) {
      const line = document.createElement("p"); line.textContent = text; document.body.append(line); } }"""
    await browser.tab.run(script, texts)

    seen = await browser.observe(with_screenshot=False)

    first, *rest = seen.lines
    assert first.endswith("<button>Go")
    assert rest == [f"\\{text}" for text in texts]


async def test_text_that_is_only_like_our_lines_stays_as_it_is(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    texts = ["[a] first", "Notes: none", "(1 of 2)", "- [x] done", "12 more lines", "… and so on", "\\[1] x"]
    script = """(texts) => { document.body.innerHTML = ""; for (const text of texts) {
      const line = document.createElement("p"); line.textContent = text; document.body.append(line); } }"""
    await browser.tab.run(script, texts)

    assert list((await browser.observe(with_screenshot=False)).lines) == texts
