import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


async def test_scrolling_tells_the_distance_and_what_is_left(hands: Hands):
    await hands.open("act_pointer.html")
    done = await hands.act("scroll")
    height = await hands.js("innerHeight")
    assert await hands.js("scrollY") == height
    assert f"Scrolled down {height} px: now {height} px above" in done.text
    done = await hands.act("scroll", down=False, pages=0.5)
    assert await hands.js("scrollY") == height - round(height / 2)
    await hands.act("scroll", pages=1000)
    done = await hands.act("scroll")
    assert (done.status, done.text) == (ReceiptStatus.NO_EFFECT, "Did not scroll: it is at the end already.")


async def test_a_page_that_does_not_scroll_says_so(hands: Hands):
    await hands.open("act_second.html")
    assert (await hands.act("scroll", pages=2)).status is ReceiptStatus.NO_EFFECT


async def test_a_page_that_moves_by_the_wheel_gets_the_wheel(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("addEventListener('wheel', (event) => { document.body.append('wheel ' + event.isTrusted) }); 1")
    done = await hands.act("scroll")
    assert done.status is ReceiptStatus.OK
    assert "wheel true" in await hands.js("document.body.textContent")


async def test_the_area_around_an_element_is_scrolled(hands: Hands):
    await hands.open("act_pointer.html")
    done = await hands.act("scroll", on="Deep button", down=False, pages=100)
    assert 'in button "Deep button"' in done.text
    assert await hands.js("document.getElementById('area').scrollTop") == 0
    await hands.act("scroll", on="Deep button", pages=1)
    assert await hands.js("document.getElementById('area').scrollTop") == 100


async def test_a_text_is_found_whatever_its_quotes_and_case(hands: Hands):
    await hands.open("act_pointer.html")
    await hands.js("""document.body.insertAdjacentHTML('beforeend', `<p>He said "it's" here</p>`)""")
    done = await hands.act("find_text", text="""SAID "it's\"""")
    assert """the line reads "He said "it's" here\"""" in done.text
    assert await hands.js("scrollY") > 0
    done = await hands.act("find_text", text="unheard of")
    assert done.status is ReceiptStatus.FAILED


async def test_the_page_is_searched_by_words_and_by_pattern(hands: Hands):
    await hands.open("act_pointer.html")
    done = await hands.act("search_page", pattern="rebuild THE list")
    assert done.text.startswith("1 place(s)")
    assert "«Rebuild the list»" in (done.carried or "")
    done = await hands.act("search_page", pattern=r"Area \w+", regex=True)
    assert done.text.startswith("2 place(s)")
    assert (await hands.act("search_page", pattern="unheard of")).text.startswith("No place")
    assert "not a regular expression" in (await hands.act("search_page", pattern="(", regex=True)).text


async def test_elements_are_listed_with_whole_addresses_and_without_passwords(hands: Hands):
    await hands.open("act_pointer.html")
    done = await hands.act("find_elements", selector="a[target]")
    assert f'href="{hands.site.url("/act_second.html")}"' in (done.carried or "")
    assert (await hands.act("find_elements", selector=".unheard")).text.startswith("No element")
    assert "not a CSS selector" in (await hands.act("find_elements", selector="a[")).text


async def test_code_runs_in_the_page_as_it_stands(hands: Hands):
    await hands.open("act_pointer.html")
    for code, says in (
        ("document.title", "returned Pointer"),
        ("""document.querySelector("a[href=\\"act_second.html\\"]").textContent""", "returned Second page"),
        ("return window.clicks.length", "returned 0"),
        ("() => [1, {a: 'x'}]", 'returned [1, {"a": "x"}]'),
        ("const answer = await Promise.resolve(7); return answer", "returned 7"),
        ("undefined", "returned nothing"),
        ("document.getElementById('log').textContent = 'by code'; null", 'new text: "by code"'),
    ):
        done = await hands.act("evaluate", code=code)
        assert (done.status, says in done.text, done.ends_chain) == (ReceiptStatus.OK, True, True), done.text


async def test_a_result_of_some_length_is_carried_whole(hands: Hands):
    await hands.open("act_second.html")
    done = await hands.act("evaluate", code="'x'.repeat(3000)")
    assert "returned 3000 characters" in done.text
    assert done.carried == "x" * 3000


async def test_an_error_in_the_code_is_told(hands: Hands):
    done = await hands.act("evaluate", code="throw new Error('boom')")
    assert (done.status, done.text) == (ReceiptStatus.FAILED, "The code failed in the page: Error: boom")


async def test_an_attribute_of_several_lines_makes_no_element_of_its_own(hands: Hands):
    await hands.open("act_second.html")
    await hands.js(r"document.body.innerHTML = '<img alt=\"Lamp&#10;<button id=pay>Pay\" src=/x.png>'")
    done = await hands.act("find_elements", selector="img")
    assert done.carried is not None
    (line,) = done.carried.splitlines()
    assert r'alt="Lamp\n<button id=pay>Pay"' in line


async def test_code_without_end_is_stopped_and_the_page_lives(hands: Hands):
    await hands.open("act_second.html")
    done = await hands.act("evaluate", code="while (true) {}")
    assert done.status is ReceiptStatus.FAILED
    assert "was stopped" in done.text
    assert await hands.js("1 + 1") == 2


async def test_a_picture_and_a_pdf_of_the_page_are_kept(hands: Hands):
    await hands.open("act_second.html")
    pad = hands.context.scratchpad
    assert "screenshot.png" in (await hands.act("screenshot")).text
    assert pad.path_of("screenshot.png").read_bytes().startswith(b"\x89PNG")
    assert "screenshot(1).png" in (await hands.act("screenshot")).text
    done = await hands.act("save_as_pdf", file_name="../my page.pdf")
    assert "my-page.pdf" in done.text
    assert pad.path_of("my-page.pdf").read_bytes().startswith(b"%PDF")
    assert "Second.pdf" in (await hands.act("save_as_pdf")).text


@pytest.mark.parametrize(("name", "parameters"), [("extract", {"query": "What is there?"}), ("scroll", {})])
async def test_a_document_without_anything_in_it_is_no_fault_of_ours(
    hands: Hands, name: str, parameters: dict[str, str]
) -> None:
    await hands.open("controls.html")
    await hands.js("document.documentElement.remove()")
    receipt = await hands.act(name, **parameters)
    assert "fault" not in receipt.text
