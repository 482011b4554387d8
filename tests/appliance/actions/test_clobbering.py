"""Actions in a form whose fields are called like what scripts ask of an element."""

import json

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("zoo_clobbering.html")
    return hands


async def test_a_field_is_filled_and_the_button_sends_the_form(page: Hands):
    filled = await page.act("input", on="Fine", text="all of it")
    clicked = await page.act("click", on="Send the trap")

    assert filled.status is ReceiptStatus.OK
    assert clicked.status is ReceiptStatus.OK
    assert await page.text("said") == "Sent: all of it"


@pytest.mark.parametrize("name", ["parentNode", "value", "getAttribute"])
async def test_the_fields_of_such_names_are_filled(page: Hands, name: str):
    done = await page.act("input", on=f"Field {name}", text="mine")

    assert done.status is ReceiptStatus.OK
    assert await page.js(f"document.getElementById('f-{name}').value") == "mine"


async def test_text_and_elements_of_such_a_page_are_found(page: Hands):
    searched = await page.act("search_page", pattern="Inside the form")
    found = await page.act("find_elements", selector="form")
    scrolled = await page.act("find_text", text="The end")

    assert "Inside the form" in searched.text
    assert "trap" in (found.carried or "")
    assert scrolled.status is ReceiptStatus.OK


async def test_files_are_given_to_a_form_of_such_fields(hands: Hands):
    await hands.open("zoo_clobbering_hands.html")
    hands.context.scratchpad.write("one.txt", "1")
    chosen = await hands.act("upload_file", on="Upload form", path="one.txt")
    assert (chosen.status, await hands.text()) == (ReceiptStatus.OK, "chosen one.txt")
    dropped = await hands.act("upload_file", on="Drop form", path="one.txt")
    assert (dropped.status, await hands.text()) == (ReceiptStatus.OK, "dropped one.txt")


async def test_a_form_of_such_fields_is_dragged(hands: Hands):
    await hands.open("zoo_clobbering_hands.html")
    source, target = await hands.index("Drag form"), await hands.index("Target")
    done = await hands.act("drag", from_index=source, to_index=target)
    assert (done.status, await hands.text()) == (ReceiptStatus.OK, "got the form")


async def test_a_page_with_such_a_form_is_read_among_others_with_all_its_text(hands: Hands):
    address = hands.site.url("/zoo_clobbering.html")
    read = await hands.act("read_pages", urls=[address])
    (page,) = json.loads(hands.context.scratchpad.read("pages.json"))

    assert read.status is ReceiptStatus.OK
    assert page["title"] == "Clobbering"
    for text in ("Before the form", "Inside the form in bold", "A form named body", "The end"):
        assert text in page["text"]
