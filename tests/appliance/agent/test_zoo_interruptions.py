"""The page zoo: questions a page asks, files it hands out, other documents and other tabs.

Scripted models do the work by the texts they are shown; the pages themselves note what really happened to them.
"""

import hashlib
from pathlib import Path

from appliance.words import Ending
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.moves import click
from tests.appliance.agent.zoo import DONE, NEEDS_DECISION, OK, Visit, answer, enter, statuses, told


async def test_a_question_is_answered_no_and_then_yes(finish: Finish, visit: Visit):
    ask = click("Delete account")
    outcome, work = await finish(
        [visit.open("zoo_questions"), [ask, DONE], answer(accept=False), ask, answer(accept=True), DONE]
    )
    assert outcome.ending is Ending.DONE
    assert await visit.noted("kept", "deleted")
    assert statuses(work, "click") == [NEEDS_DECISION, NEEDS_DECISION]
    assert "Delete the account for good?" in told(work, "click")[0].text
    assert "Delete the account for good?" in work.asked[2].text
    assert [receipt.text.split()[0] for receipt in told(work, "answer_dialog")] == ["Dismissed", "Accepted"]


async def test_four_questions_in_a_row_are_each_shown_and_answered(finish: Finish, visit: Visit):
    answers = [answer(accept=yes) for yes in (True, False, True, False)]
    _, work = await finish([visit.open("zoo_questions"), click("Ask four times"), *answers, DONE])
    assert await visit.noted("yes no yes no")
    assert statuses(work, "answer_dialog") == [NEEDS_DECISION, NEEDS_DECISION, NEEDS_DECISION, OK]
    assert [f"Question {step - 1} of 4?" in work.asked[step].text for step in (2, 3, 4, 5)] == [True] * 4


async def test_a_page_that_asks_before_it_is_left_is_stayed_on_and_then_left(finish: Finish, visit: Visit):
    leave = click("Leave")
    write = enter("Draft", "half a letter")
    _, work = await finish(
        [visit.open("zoo_questions"), write, leave, answer(accept=False), leave, answer(accept=True), DONE]
    )
    asks = 'asks before leaving "half a letter"'
    assert await visit.noted(asks, asks, "arrived, without an opener")
    assert statuses(work, "click") == [NEEDS_DECISION, NEEDS_DECISION]
    stayed, left = told(work, "answer_dialog")
    assert "zoo_questions" in stayed.url
    assert "zoo_arrival" in left.url
    assert "half a letter" in work.asked[4].text


async def test_files_by_header_and_from_memory_are_kept_byte_for_byte(finish: Finish, visit: Visit, tmp_path: Path):
    wait = {"wait_for": {"download": True}}
    links = [click("Sales report"), click("Sales report of tomorrow"), click("Export as binary")]
    _, work = await finish([visit.open("zoo_files"), *([link, wait] for link in links), DONE])
    assert await visit.noted("exported")
    expected = {
        "report.csv": b"day,sales\n1,39.90\n",
        "report(1).csv": b"day,sales\n2,12.50\n",
        "export.bin": bytes((at * 31 + (at >> 8)) % 256 for at in range(100_003)),
    }
    folder = tmp_path / "downloads"
    kept = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert kept == {name: hashlib.sha256(data).hexdigest() for name, data in expected.items()}
    assert statuses(work, "click") + statuses(work, "wait_for") == [OK] * 6
    assert "export.bin" in told(work, "click")[2].text + told(work, "wait_for")[2].text


async def test_a_document_shown_in_the_tab_is_read_and_left_again(finish: Finish, visit: Visit):
    steps = [
        visit.open("zoo_files"),
        click("Open the invoice"),
        {"extract": {"query": "Is it paid?"}},
        {"go_back": {}},
        click("Count"),
    ]
    scenario = {"steps": [*steps, DONE], "extracts": [{"__seen__": r"Invoice \d+ is paid"}]}
    _, work = await finish(scenario)
    assert await visit.noted("counted")
    assert statuses(work, "extract") == [OK]
    assert "Invoice 4711 is paid" in work.asked[3].text


async def test_a_link_without_opener_is_followed_to_its_tab_and_back(finish: Finish, visit: Visit):
    steps = [click("Desk in a new tab"), click("Stamp"), {"switch": {"tab_id": {"title": "Files"}}}, click("Count")]
    _, work = await finish([visit.open("zoo_files"), *steps, DONE])
    assert await visit.noted("arrived, without an opener", "stamped", "counted")
    assert statuses(work, "click") + statuses(work, "switch") == [OK] * 4
    opened, stamped, counted = told(work, "click")
    assert "zoo_arrival" in opened.url
    assert "zoo_arrival" in stamped.url
    assert "zoo_files" in counted.url
