from pathlib import Path
from typing import Any

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_forms.html")
    return hands


async def value(page: Hands, element_id: str) -> Any:
    return await page.js(f"document.getElementById('{element_id}').value")


async def test_text_replaces_what_was_there_and_is_read_back(page: Hands):
    done = await page.act("input", on="Name", text="Ann Ångström 😀")
    assert await value(page, "name") == "Ann Ångström 😀"
    assert (done.status, done.ends_chain) == (ReceiptStatus.OK, False)
    assert 'it now reads "Ann Ångström 😀"' in done.text


async def test_text_is_added_with_clear_off_and_removed_with_no_text(page: Hands):
    done = await page.act("input", on="Name", text=" and more", clear=False)
    assert 'it now reads "old name and more"' in done.text
    done = await page.act("input", on="Name", text="")
    assert await value(page, "name") == ""
    assert done.text.startswith("Cleared")


async def test_typing_is_trusted_heard_by_key_and_never_leaves_the_field(page: Hands):
    await page.act("input", on="Keys", text="abc")
    events = await page.js("window.events.filter((event) => event[1] === 'keys')")
    assert [event[3] for event in events if event[0] == "keydown"] == ["a", "b", "c"]
    assert all(event[2] for event in events)
    assert "blur" not in {event[0] for event in events}
    assert await page.js("document.activeElement.id") == "keys"


async def test_a_long_text_is_quick_and_whole(page: Hands):
    text = "Lorem ipsum dolor sit amet. " * 200
    done = await page.act("input", on="Story", text=text)
    assert await value(page, "story") == text
    assert "5600 characters" in done.text
    assert done.duration_ms < 1500


@pytest.mark.parametrize(
    ("label", "element_id", "text", "kept"),
    [
        ("Code", "code", "abcdef", "abc"),
        ("Upper", "upper", "shout", "SHOUT"),
        ("Numbers only", "digits", "a1b2", "12"),
    ],
)
async def test_what_the_page_makes_of_a_text_is_told(page: Hands, label: str, element_id: str, text: str, kept: str):
    done = await page.act("input", on=label, text=text)
    assert await value(page, element_id) == kept
    assert f'it now reads "{kept}", which differs from the text entered' in done.text


async def test_a_text_that_leaves_the_field_empty_has_failed(page: Hands):
    done = await page.act("input", on="Amount", text="abc")
    assert done.status is ReceiptStatus.FAILED
    assert "it is empty now" in done.text


async def test_a_password_is_compared_and_never_told(page: Hands):
    done = await page.act("input", on="Secret", text="hunter2-hunter2")
    assert await value(page, "secret") == "hunter2-hunter2"
    assert "hunter2" not in done.text
    assert "it holds 15 characters, as entered" in done.text


@pytest.mark.parametrize(
    ("label", "element_id", "text", "kept"),
    [
        ("Day", "day", "2026-03-15", "2026-03-15"),
        ("Hour", "hour", "15:30", "15:30"),
        ("Moment", "moment", "2026-03-15 15:30", "2026-03-15T15:30"),
        ("Colour", "colour", "#33aaff", "#33aaff"),
        ("Level", "level", "7", "7"),
    ],
)
async def test_dates_times_colours_and_ranges_are_set(page: Hands, label: str, element_id: str, text: str, kept: str):
    done = await page.act("input", on=label, text=text)
    assert await value(page, element_id) == kept
    assert done.status is ReceiptStatus.OK
    assert f'it now reads "{kept}"' in done.text
    heard = await page.js(f"window.events.filter((event) => event[1] === '{element_id}').map((event) => event[0])")
    assert heard[:2] == ["input", "change"]


@pytest.mark.parametrize(
    ("label", "text", "says"),
    [("Day", "03/15/2026", "2026-03-15"), ("Level", "99", "from 0 to 10"), ("Colour", "nonsense", "#33aaff")],
)
async def test_a_value_the_field_refuses_fails_naming_the_form_it_wants(page: Hands, label: str, text: str, says: str):
    done = await page.act("input", on=label, text=text)
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text


@pytest.mark.parametrize(
    ("label", "says"),
    [("Fixed", "read-only"), ("Off", "disabled"), ("Send", "not a field"), ("One", "use select_dropdown")],
)
async def test_what_cannot_be_typed_into_says_why(page: Hands, label: str, says: str):
    done = await page.act("input", on=label, text="x")
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text


async def test_editors_take_lines_without_being_sent(page: Hands):
    done = await page.act("input", on="Chat", text="first\nsecond")
    assert 'it now reads "first ⏎ second"' in done.text
    assert await page.text() == "nothing yet"
    done = await page.act("send_keys", keys="Enter")
    assert await page.text() == "sent first\nsecond"


async def test_an_editor_is_cleared_before_and_can_be_added_to(page: Hands):
    index = await page.index("old text")
    await page.act("input", index=index, text="new")
    done = await page.act("input", index=index, text=" text", clear=False)
    assert await page.js("document.getElementById('editor').innerText") == "new text"
    assert done.status is ReceiptStatus.OK


async def test_a_field_in_a_shadow_root_is_filled(page: Hands):
    await page.act("input", on="Shadow field", text="deep")
    assert await page.js("document.getElementById('field').shadowRoot.querySelector('input').value") == "deep"


async def test_suggestions_that_come_after_a_pause_are_there_in_the_next_look(page: Hands):
    done = await page.act("input", on="City", text="Ber")
    assert 'option "Berlin", option "Bern", option "Bergen"' in done.text
    assert done.ends_chain
    await page.act("click", on="Bern")
    assert await value(page, "city") == "Bern"


async def test_submitting_sends_the_form_and_tells_where_it_led(page: Hands):
    done = await page.act("input", on="Name", text="final", submit=True)
    assert "pressed Enter; navigated from" in done.text
    assert done.ends_chain
    assert page.browser.tab.url.endswith("/act_second.html?")


async def test_a_form_that_the_browser_holds_back_says_why(page: Hands):
    done = await page.act("input", on="Mail", text="no mail")
    assert "the page says: Please include an '@'" in done.text
    for done in (
        await page.act("input", on="Name", text="x", submit=True),
        await page.act("click", on="Send"),
        await page.act("send_keys", keys="Enter"),
    ):
        assert 'the form was not sent, field "Mail": Please include an' in done.text
    assert page.browser.tab.url.endswith("/act_forms.html")


async def test_keys_are_pressed_where_the_focus_is(page: Hands):
    await page.act("click", on="Name")
    done = await page.act("send_keys", keys="Control+A")
    done = await page.act("send_keys", keys="h i Shift+X")
    assert 'value changed from "old name" to "hiX"' in done.text
    done = await page.act("send_keys", keys="Tab")
    assert 'field "Code" has the focus' in done.text
    assert await page.js("document.activeElement.id") == "code"


@pytest.mark.parametrize(
    ("keys", "says"), [("NoSuchKey", "is not a key"), ("Hyper+A", "not a modifier"), ("", "keys is empty")]
)
async def test_a_key_that_does_not_exist_is_named(page: Hands, keys: str, says: str):
    done = await page.act("send_keys", keys=keys)
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text


async def test_a_file_of_the_session_is_given_to_a_file_field(page: Hands):
    page.context.scratchpad.write("note.txt", "hello")
    done = await page.act("upload_file", on="File", path="note.txt")
    assert 'Gave note.txt (5 bytes) to textbox "File"' in done.text
    await page.act("wait_for", text="file note.txt")
    assert await page.text() == "file note.txt: hello"


async def test_a_file_is_given_to_the_chooser_a_button_opens(page: Hands):
    await page.open("act_pointer.html")
    page.context.scratchpad.write("note.txt", "hello")
    done = await page.act("click", on="Pick a file")
    assert "use upload_file with this element" in done.text
    done = await page.act(
        "upload_file", on="Pick a file", path=str(page.context.scratchpad.root.absolute() / "note.txt")
    )
    assert done.status is ReceiptStatus.OK
    assert await page.text() == "picked note.txt 5"
    done = await page.act("upload_file", on="Save", path="note.txt")
    assert "opened no file chooser" in done.text


async def test_only_files_of_the_session_are_given(page: Hands, tmp_path: Path):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    page.context.scratchpad.write("empty.txt", "")
    for path, says in (
        (str(outside), "not a file of this session"),
        ("../outside.txt", "There is no file"),
        ("empty.txt", "is empty"),
    ):
        done = await page.act("upload_file", on="File", path=path)
        assert done.status is ReceiptStatus.FAILED
        assert says in done.text
    assert await page.js("document.getElementById('file').files.length") == 0
