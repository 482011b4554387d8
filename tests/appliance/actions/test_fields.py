"""Fields that make something of what is typed, and what cannot be typed into."""

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_fields.html")
    return hands


async def value(page: Hands, element_id: str) -> str:
    return str(await page.js(f"document.getElementById('{element_id}').value"))


@pytest.mark.parametrize(
    ("name", "element_id", "text", "kept"),
    [
        ("Phone", "phone", "5551234567", "(555) 123-4567"),
        ("Card", "card", "4111111111111111", "4111 1111 1111 1111"),
    ],
)
async def test_a_mask_that_only_writes_the_text_in_its_own_form_is_no_difference(
    page: Hands, name: str, element_id: str, text: str, kept: str
):
    done = await page.act("input", on=name, text=text)
    assert await value(page, element_id) == kept
    assert f'it now reads "{kept}"' in done.text
    assert "in the form of the page" in done.text
    assert done.status is ReceiptStatus.OK


@pytest.mark.parametrize(("name", "element_id", "kept"), [("Held", "held", "kept"), ("Later", "later", "")])
async def test_a_field_that_takes_its_value_back_has_not_been_filled(
    page: Hands, name: str, element_id: str, kept: str
):
    done = await page.act("input", on=name, text="new words")
    assert await value(page, element_id) == kept
    assert done.status is ReceiptStatus.FAILED, done.text


@pytest.mark.parametrize(
    ("name", "element_id", "text"),
    [("Week", "week", "2026-W11"), ("Month", "month", "2026-03"), ("Limited day", "limited", "2026-03-15")],
)
async def test_weeks_and_months_are_written_as_the_standard_says(page: Hands, name: str, element_id: str, text: str):
    done = await page.act("input", on=name, text=text)
    assert await value(page, element_id) == text
    assert done.status is ReceiptStatus.OK
    done = await page.act("input", on=name, text="next spring")
    assert done.status is ReceiptStatus.FAILED


async def test_what_the_browser_finds_wrong_with_a_value_is_told(page: Hands):
    assert "the page says" in (await page.act("input", on="Limited day", text="2031-01-01")).text
    assert "the page says" in (await page.act("input", on="Count", text="9")).text
    done = await page.act("input", on="Short story", text="abcdefgh")
    assert await value(page, "short") == "abcde"
    assert "takes at most 5 characters" in done.text


async def test_a_picker_that_takes_no_text_is_used_with_clicks(page: Hands):
    done = await page.act("input", on="Arrival", text="2026-03-15")
    assert done.status is ReceiptStatus.FAILED
    assert "read-only" in done.text
    assert "picker" in done.text
    await page.act("click", on="Arrival")
    await page.act("click", on="15")
    assert await value(page, "arrival") == "2026-03-15"


async def test_an_editor_with_a_model_of_its_own_gets_the_text_and_its_lines(page: Hands):
    index = await page.index("First")
    done = await page.act("input", index=index, text="Dear 😀\nAnn")
    assert await page.js("window.model()") == "Dear 😀\nAnn"
    assert done.status is ReceiptStatus.OK
    await page.act("input", index=index, text="!", clear=False)
    assert await page.js("window.model()") == "Dear 😀\nAnn!"
    done = await page.act("input", on="old", text="one\ntwo")
    assert await page.js("document.getElementById('tokens').innerText") == "one\ntwo"


async def test_filling_never_makes_a_field_lose_the_focus_by_itself(page: Hands):
    await page.act("input", on="Query", text="words")
    assert await page.js("window.blurs") == []
    done = await page.act("input", on="Query", text="other words", submit=True)
    assert await page.text() == "asked other words"
    assert done.status is ReceiptStatus.OK


async def test_an_area_and_frames_are_scrolled_by_what_lies_in_them(page: Hands):
    done = await page.act("scroll", on="Area top Area bottom", pages=0.5)
    assert "px" in done.text
    assert await page.js("document.getElementById('inner').scrollTop") == 45
    assert await page.js("scrollY") == 0
    done = await page.act("scroll", on="Frame button")
    assert await page.js("document.getElementById('same').contentWindow.scrollY") == 100, done.text
    done = await page.act("scroll", on="Foreign button", pages=1000)
    assert "0 px below" in done.text
    done = await page.act("scroll", on="Foreign button")
    assert (done.status, "at the end" in done.text) == (ReceiptStatus.NO_EFFECT, True)
    done = await page.act("scroll", down=False)
    assert "at the top" in done.text
    done = await page.act("scroll", pages=1000)
    assert "0 px below" in done.text
    assert (await page.act("scroll")).status is ReceiptStatus.NO_EFFECT


@pytest.mark.parametrize("text", ['"it isn\'t so"', 'Frame "end" isn\'t', "End of the foreign frame"])
async def test_a_text_with_both_kinds_of_quotes_is_found_wherever_it_is(page: Hands, text: str):
    done = await page.act("find_text", text=text)
    assert done.status is ReceiptStatus.OK
    assert (await page.act("wait_for", text=text, seconds=5)).status is ReceiptStatus.OK


async def test_code_runs_as_it_stands(page: Hands):
    code = (
        r"""[...document.querySelectorAll("[id=\"query\"][name='q']")].map((one) => `${one.id} "it's" \\d`).join('')"""
    )
    done = await page.act("evaluate", code=code)
    assert 'query "it\'s" \\d' in done.text
    done = await page.act("evaluate", code="const found = document.title;\nreturn found + '!'")
    assert "returned Fields!" in done.text
    done = await page.act("evaluate", code="null.x")
    assert done.status is ReceiptStatus.FAILED
    assert "TypeError" in done.text


async def test_a_long_result_of_code_is_kept_as_a_file_and_begun(page: Hands):
    done = await page.act("evaluate", code="Array.from({ length: 9000 }, (_, at) => 'word ' + at).join('\\n')")
    assert done.carried is not None
    assert done.carried.startswith("word 0\nword 1")
    assert len(done.carried) < 5000
    name = next(entry.name for entry in page.context.scratchpad.listing())
    assert name in done.text
    assert (page.context.scratchpad.root / name).read_text().endswith("word 8999")
