import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from appliance.actions.base import Receipt
from appliance.actions.guard import OutputGuard
from appliance.sensitive import SensitiveData
from appliance.words import ReceiptStatus
from appliance.workspaces.scratchpad import Scratchpad
from tests.appliance.actions.conftest import Hands


class Given(BaseModel):
    selector: str = "p"


@pytest.fixture
def scratchpad(tmp_path: Path) -> Scratchpad:
    return Scratchpad(tmp_path / "scratchpad")


def names(hands: Hands) -> list[str]:
    return [entry.name for entry in hands.context.scratchpad.listing()]


async def with_paragraphs(hands: Hands, count: int, length: int) -> None:
    await hands.open("act_second.html")
    await hands.js(f"""document.body.append(...Array.from({{ length: {count} }}, (_, at) => {{
        const row = document.createElement('p'); row.title = 'needle ' + at + ' ' + 'x'.repeat({length});
        row.textContent = 'needle ' + at; return row; }})); 1""")


async def test_a_text_seen_before_is_told_by_number_and_file(hands: Hands):
    await with_paragraphs(hands, 20, 100)
    hands.context.step = 3
    first = await hands.act("find_elements", selector="p[title]")
    assert first.carried is not None
    assert "readout" not in first.carried
    assert "readout_find_elements_1.txt" not in names(hands)
    await hands.act("search_page", pattern="needle")
    again = await hands.act("find_elements", selector="p[title]")
    assert again.carried is not None
    assert len(again.carried) < 600
    assert "readout 1, of find_elements in step 3" in again.carried
    assert hands.context.scratchpad.read("readout_find_elements_1.txt") == first.carried
    shown = await hands.act("read_file", file_name="readout_find_elements_1.txt")
    assert shown.carried is not None
    assert first.carried in shown.carried


async def test_the_same_words_with_other_blanks_count_as_seen(hands: Hands):
    for key, blank in (("one", " "), ("two", "\n\n")):
        await hands.act("remember", key=key, value=blank.join(f"word{number}" for number in range(100)))
    await hands.act("recall", key="one")
    done = await hands.act("recall", key="two")
    assert done.carried is not None
    assert "readout 1, of recall" in done.carried


async def test_a_short_text_is_shown_as_often_as_it_is_asked_for(hands: Hands):
    await hands.act("remember", key="one", value="x" * 450)
    for _ in range(3):
        done = await hands.act("recall", key="one")
        assert done.carried == "x" * 450


async def test_a_huge_text_is_shown_by_its_beginning_and_kept_whole(hands: Hands):
    await with_paragraphs(hands, 40, 400)
    done = await hands.act("find_elements", selector="p[title]")
    assert done.carried is not None
    assert 8_000 < len(done.carried) < 8_200
    assert "readout_find_elements_1.txt" in done.carried
    whole = hands.context.scratchpad.read("readout_find_elements_1.txt")
    assert whole.startswith(done.carried[:8_000])
    assert whole.count("needle 39") == 2


async def test_what_is_only_remembered_is_not_cut(hands: Hands):
    await hands.act("remember", key="one", value="y" * 9_500)
    done = await hands.act("recall", key="one")
    assert done.carried == "y" * 9_500


async def test_the_same_call_with_the_same_result_twice_in_a_row_is_pointed_out(hands: Hands):
    await with_paragraphs(hands, 2, 1)
    assert "do not repeat" not in (await hands.act("search_page", pattern="needle")).text
    assert "do not repeat search_page" in (await hands.act("search_page", pattern="needle")).text
    assert "do not repeat" not in (await hands.act("search_page", pattern="needle 1")).text
    assert "do not repeat" not in (await hands.act("search_page", pattern="needle")).text
    await hands.act("scroll", down=True)
    assert "do not repeat" not in (await hands.act("search_page", pattern="needle")).text


async def test_the_same_fault_twice_in_a_row_is_pointed_out(hands: Hands):
    await hands.open("act_second.html")
    await hands.act("find_elements", selector="p[")
    done = await hands.act("find_elements", selector="p[")
    assert done.status is ReceiptStatus.FAILED
    assert "is not a CSS selector" in done.text
    assert "do not repeat find_elements" in done.text


def test_a_long_document_keeps_its_form_where_cutting_its_long_strings_is_enough(scratchpad: Scratchpad):
    document = [{"name": f"ware {number}", "text": "z" * 900} for number in range(20)]
    done = pass_on(scratchpad, json.dumps(document))
    shown = json.loads((done.carried or "").split("\n")[0])
    assert [row["name"] for row in shown] == [row["name"] for row in document]
    assert shown[19]["text"].startswith("z" * 200 + "…")
    assert json.loads(scratchpad.read("readout_find_links_1.txt")) == document


def test_a_document_of_many_short_strings_is_cut_like_any_text(scratchpad: Scratchpad):
    text = json.dumps(["short"] * 4_000)
    done = pass_on(scratchpad, text)
    assert (done.carried or "").startswith(text[:8_000])
    assert len(done.carried or "") < 8_200


def test_a_document_nested_without_end_is_cut_like_any_text(scratchpad: Scratchpad):
    done = pass_on(scratchpad, "[" * 50_000)
    assert (done.carried or "").startswith("[" * 8_000)


def test_a_text_that_finds_no_room_for_a_file_is_not_taken_away(scratchpad: Scratchpad):
    for number in range(500):
        (scratchpad.root / f"full-{number}.txt").touch()
    guard, text = OutputGuard(), "word " * 2_000
    cut = guard.pass_on(scratchpad, 1, "find_links", Given(), Receipt(ReceiptStatus.OK, "Read.", carried=text))
    assert "no room for a file" in (cut.carried or "")
    again = guard.pass_on(scratchpad, 2, "find_links", Given(), Receipt(ReceiptStatus.OK, "Read.", carried=text))
    assert "".join((again.carried or "").split()).startswith("word" * 1_000)
    assert len(again.carried or "") < 8_200


def test_numbers_that_only_blanks_keep_apart_are_not_the_same(scratchpad: Scratchpad):
    guard = OutputGuard()
    for blanks in ("1 23 ", "12 3 "):
        done = Receipt(ReceiptStatus.OK, "Read.", carried=blanks * 200)
        assert guard.pass_on(scratchpad, 1, "recall", Given(), done).carried == blanks * 200


def test_a_readout_takes_no_earlier_file_away(scratchpad: Scratchpad):
    pass_on(scratchpad, "first " * 2_000)
    done = pass_on(scratchpad, "second " * 2_000)
    assert "whole in readout_find_links_1(1).txt" in (done.carried or "")
    assert scratchpad.read("readout_find_links_1.txt") == "first " * 2_000


async def test_no_secret_gets_into_a_readout(hands: Hands):
    hands.context.sensitive = SensitiveData.read({"pin": "hunter2-secret"})
    await with_paragraphs(hands, 40, 400)
    await hands.js(
        "document.querySelectorAll('p[title]').forEach((row) => { row.textContent += ' hunter2-secret'; }); 1"
    )
    await hands.act("find_elements", selector="p[title]")
    whole = hands.context.scratchpad.read("readout_find_elements_1.txt")
    assert "hunter2" not in whole
    assert "<secret>pin</secret>" in whole


def pass_on(scratchpad: Scratchpad, text: str) -> Receipt:
    receipt = Receipt(ReceiptStatus.OK, "Read.", carried=text)
    return OutputGuard().pass_on(scratchpad, 1, "find_links", Given(), receipt)
