import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_pointer.html")
    return hands


@pytest.mark.parametrize(("accept", "says"), [(True, "answered true"), (False, "answered false")])
async def test_a_question_is_shown_answered_and_its_outcome_told(page: Hands, accept: bool, says: str):
    asked = await page.act("click", on="Confirm")
    assert (asked.status, asked.ends_chain) == (ReceiptStatus.NEEDS_DECISION, True)
    assert 'a confirm dialog is open: "Delete everything?"' in asked.text
    assert asked.duration_ms < 2000
    done = await page.act("answer_dialog", accept=accept)
    assert await page.text() == says
    assert f'new text: "{says}"' in done.text
    assert done.status is ReceiptStatus.OK


async def test_nothing_touches_the_page_while_a_dialog_is_open(page: Hands):
    index = await page.index("Save")
    await page.act("click", on="Alert")
    done = await page.act("click", index=index)
    assert done.status is ReceiptStatus.NEEDS_DECISION
    assert '"Be careful". Answer it with answer_dialog first' in done.text
    assert (await page.act("write_file", file_name="a.md", content="x")).status is ReceiptStatus.OK
    await page.act("answer_dialog", accept=True)
    assert await page.text() == "told"


@pytest.mark.parametrize(("text", "says"), [("Ann", "name Ann"), (None, "name nobody")])
async def test_a_prompt_takes_a_text_or_its_preset_one(page: Hands, text: str | None, says: str):
    assert 'preset text "nobody"' in (await page.act("click", on="Prompt")).text
    await page.act("answer_dialog", accept=True, text=text)
    assert await page.text() == says


async def test_questions_in_a_row_are_each_asked(page: Hands):
    done = await page.act("click", on="Ask four times")
    for number in range(1, 5):
        assert f"Question {number}" in done.text
        assert done.status is ReceiptStatus.NEEDS_DECISION
        done = await page.act("answer_dialog", accept=number != 2)
    assert done.status is ReceiptStatus.OK
    assert await page.text() == "yes 3"


async def test_an_answer_without_a_question_has_failed(page: Hands):
    done = await page.act("answer_dialog", accept=True)
    assert done.status is ReceiptStatus.FAILED
    assert "no dialog to answer" in done.text


async def test_a_question_that_typing_brings_up_stops_the_typing(page: Hands):
    await page.open("act_forms.html")
    done = await page.act("input", on="Asks", text="hello")
    assert done.status is ReceiptStatus.NEEDS_DECISION
    await page.act("answer_dialog", accept=True)
    assert 'it now reads "hello"' in (await page.act("input", on="Asks", text="hello")).text


async def test_leaving_a_page_with_unsaved_text_is_the_models_decision(page: Hands):
    await page.open("act_leaving.html")
    await page.act("input", on="Note", text="unsaved")
    to = page.site.url("/act_second.html")
    assert (await page.act("navigate", url=to)).status is ReceiptStatus.NEEDS_DECISION
    assert (await page.act("answer_dialog", accept=False)).text == "Stayed on the page."
    assert page.browser.tab.url.endswith("/act_leaving.html")
    assert (await page.act("navigate", url=to)).status is ReceiptStatus.NEEDS_DECISION
    done = await page.act("answer_dialog", accept=True)
    assert "Agreed to leave the page: navigated from" in done.text
    assert page.browser.tab.url == to


async def test_code_that_asks_does_not_hang(page: Hands):
    done = await page.act("evaluate", code="confirm('sure?')")
    assert done.status is ReceiptStatus.NEEDS_DECISION
    assert (await page.act("answer_dialog", accept=True)).status is ReceiptStatus.OK


async def test_a_dialog_at_the_start_of_a_page_stops_nothing_for_long(hands: Hands):
    done = await hands.act("navigate", url=hands.site.url("/act_dialogs.html#greet"))
    assert (done.status, "Welcome" in done.text) == (ReceiptStatus.NEEDS_DECISION, True)
    seen = await hands.browser.observe()
    assert any("Welcome" in note for note in seen.notes)
    await hands.act("answer_dialog", accept=True)
    assert any("Ask later" in line for line in (await hands.browser.observe(with_screenshot=False)).lines)


async def test_a_dialog_that_a_timer_opens_is_shown_and_asked(hands: Hands):
    await hands.open("act_dialogs.html")
    await hands.act("click", on="Ask later")
    done = await hands.act("wait", seconds=3)
    assert done.status is ReceiptStatus.NEEDS_DECISION
    assert "Still there?" in done.text
    await hands.act("answer_dialog", accept=False)
    assert await hands.text() == "later false"


@pytest.mark.parametrize(
    ("name", "says"), [("Ask in the frame", "frame says true"), ("Ask from elsewhere", "answered Bonn")]
)
async def test_dialogs_of_frames_are_answered_like_others(hands: Hands, name: str, says: str):
    await hands.open("act_dialogs.html")
    done = await hands.act("click", on=name)
    assert done.status is ReceiptStatus.NEEDS_DECISION
    assert (await hands.act("answer_dialog", accept=True)).status is ReceiptStatus.OK
    assert await hands.index(says)


async def test_printing_is_told_and_stops_nothing(hands: Hands):
    await hands.open("act_dialogs.html")
    done = await hands.act("click", on="Print")
    assert "save_as_pdf" in done.text
    assert await hands.text() == "printed"
