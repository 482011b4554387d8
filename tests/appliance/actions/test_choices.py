import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_forms.html")
    return hands


async def test_the_entries_of_a_list_are_shown_with_the_chosen_one(page: Hands):
    done = await page.act("dropdown_options", on="One")
    assert "3 entries; chosen: Beta" in done.text
    assert done.carried == "Alpha (value a)\nBeta (value b) [chosen]\nGamma (value c) [disabled]"
    assert "Root / Carrot" in ((await page.act("dropdown_options", on="Grouped")).carried or "")


@pytest.mark.parametrize("text", ["Alpha", "alpha", "a", "Alph"])
async def test_an_entry_is_chosen_by_text_value_or_a_part_that_is_clear(page: Hands, text: str):
    done = await page.act("select_dropdown", on="One", text=text)
    assert await page.text() == "one a"
    assert (done.status, done.ends_chain) == (ReceiptStatus.OK, False)
    assert "chosen now: Alpha" in done.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Gamma", "is disabled"),
        ("Delta", 'not an entry of combobox "One" [20]; there are: "Alpha"'),
        (["Alpha", "Beta"], "one entry only"),
    ],
)
async def test_an_entry_that_cannot_be_chosen_says_why(page: Hands, text: str | list[str], says: str):
    done = await page.act("select_dropdown", on="One", text=text)
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text
    assert await page.js("document.getElementById('one').value") == "b"


async def test_an_entry_that_is_chosen_already_is_no_effect(page: Hands):
    assert (await page.act("select_dropdown", on="One", text="Beta")).status is ReceiptStatus.NO_EFFECT


async def test_a_text_adds_to_a_multiple_list_and_a_list_replaces_it(page: Hands):
    done = await page.act("select_dropdown", on="Many", text="Red")
    assert await page.text() == "many Red,Green,Blue"
    assert "chosen now: Red, Green, Blue" in done.text
    done = await page.act("select_dropdown", on="Many", text=["Blue"])
    assert await page.text() == "many Blue"
    assert "chosen now: Blue" in done.text


async def test_a_choice_that_the_page_sets_back_has_failed(page: Hands):
    done = await page.act("select_dropdown", on="Stubborn", text="No")
    assert done.status is ReceiptStatus.FAILED
    assert "set it back; chosen now: Yes" in done.text


async def test_a_list_of_the_pages_own_is_opened_and_clicked(page: Hands):
    done = await page.act("select_dropdown", on="Pick a size", text="medium")
    assert await page.text() == "size Medium true"
    assert 'its text changed from "Pick a size" to "Medium"' in done.text
    done = await page.act("select_dropdown", on="Medium", text="Huge")
    assert done.status is ReceiptStatus.FAILED
    assert "is disabled" in done.text


async def test_what_has_no_list_says_so(page: Hands):
    await page.open("act_second.html")
    done = await page.act("dropdown_options", on="Back to the first")
    assert done.status is ReceiptStatus.FAILED
