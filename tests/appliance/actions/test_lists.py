"""Lists that pages build themselves, wherever they are and however they draw their entries."""

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_lists.html")
    return hands


@pytest.mark.parametrize(
    ("control", "text", "says"),
    [
        ("Country", "belgium", "country Belgium true"),
        ("Actions", "Archive", "did Archive"),
        ("Choose a colour", "Olive", "colour Olive"),
        ("Shadow list", "Deep two", "shadow Deep two"),
        ("Plan", "Free", "plan f"),
        ("Plan", "f", "plan f"),
    ],
)
async def test_an_entry_is_chosen_in_every_kind_of_list(page: Hands, control: str, text: str, says: str):
    done = await page.act("select_dropdown", on=control, text=text)
    assert await page.text() == says
    assert done.status is ReceiptStatus.OK, done.text


async def test_a_list_that_draws_only_what_is_in_view_is_scrolled_to_the_entry(page: Hands):
    done = await page.act("select_dropdown", on="Number", text="Entry 377")
    assert await page.text() == "number Entry 377"
    assert done.status is ReceiptStatus.OK
    done = await page.act("select_dropdown", on="Entry 377", text="Entry 9999")
    assert done.status is ReceiptStatus.FAILED
    assert "is not an entry" in done.text


async def test_a_list_that_loads_more_at_its_end_is_gone_through(page: Hands):
    done = await page.act("dropdown_options", on="Lazy")
    assert "has 40 entries" in done.text
    await page.act("select_dropdown", on="Lazy", text="Loaded 33")
    assert await page.text() == "lazy Loaded 33"


async def test_a_list_with_a_search_field_is_searched(page: Hands):
    done = await page.act("select_dropdown", on="Person", text="Frida")
    assert await page.text() == "person Frida"
    assert done.status is ReceiptStatus.OK
    done = await page.act("select_dropdown", on="Frida", text="Nobody")
    assert done.status is ReceiptStatus.FAILED
    assert '"Nobody" is not an entry' in done.text
    assert await page.js("document.querySelector('#people input').value") == ""


async def test_a_field_that_suggests_gets_an_entry(page: Hands):
    done = await page.act("select_dropdown", on="Fruit", text="Cherry")
    assert await page.js("document.getElementById('fruit').value") == "Cherry", done.text
    assert await page.text() == "fruit Cherry"


async def test_in_a_list_for_several_a_text_is_added_and_a_list_replaces(page: Hands):
    done = await page.act("select_dropdown", on="Tags", text="News")
    assert "chosen now: News, Sport, Music" in done.text
    done = await page.act("select_dropdown", on="Tags", text=["Music"])
    assert await page.text() == "tags Music"
    assert "chosen now: Music" in done.text
    done = await page.act("select_dropdown", on="Tags", text="Film")
    assert done.status is not ReceiptStatus.OK
    done = await page.act("dropdown_options", on="Sized")
    assert "several can be chosen; chosen: B2, C3" in done.text
    done = await page.act("select_dropdown", on="Sized", text="A1")
    assert "chosen now: A1, B2, C3" in done.text
    done = await page.act("select_dropdown", on="Sized", text=[])
    assert "chosen now: none" in done.text


async def test_lists_in_frames_are_used_with_the_mouse(page: Hands):
    await page.act("select_dropdown", on="Inner list", text="In two")
    inner = "document.querySelector('[title=inner]').contentDocument.getElementById('b').textContent"
    assert await page.js(inner) == "In two"
    done = await page.act("select_dropdown", on="Foreign list", text="Far two")
    assert 'new text: "a trusted click: true"' in done.text
    done = await page.act("select_dropdown", on="Foreign plan", text="Big")
    assert "chosen now: Big" in done.text


async def test_the_entries_of_a_list_are_told_wherever_it_opens(page: Hands):
    done = await page.act("dropdown_options", on="Country")
    assert (done.status, done.carried) == (ReceiptStatus.OK, "Austria\nBelgium\nChile")
    done = await page.act("dropdown_options", on="Plan")
    assert done.carried == "Free (value f)\nPremium (value p) [chosen]"
    done = await page.act("select_dropdown", on="Guess", text="Two")
    assert "use input" in done.text


async def test_an_unrelated_list_is_not_taken_for_that_of_a_control(page: Hands):
    await page.js("document.getElementById('portal').onclick = null; 1")
    done = await page.act("select_dropdown", on="Country", text="Unrelated")
    assert done.status is ReceiptStatus.FAILED
    assert "has no list of entries" in done.text
