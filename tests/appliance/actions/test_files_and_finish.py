from typing import Any

import pytest

from appliance.errors import RunDone
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}},
    "required": ["title", "pages"],
}


async def test_files_are_written_changed_and_read(hands: Hands):
    done = await hands.act("write_file", file_name="notes/a b.md", content="one")
    assert done.text == "Wrote notes-a-b.md (3 bytes, asked for as 'notes/a b.md')."
    await hands.act("write_file", file_name="notes-a-b.md", content=" two", append=True)
    assert (
        await hands.act("replace_file", file_name="notes-a-b.md", old_str="one", new_str="1")
    ).status is ReceiptStatus.OK
    done = await hands.act("read_file", file_name="notes/a b.md")
    assert done.carried == "1 two"
    assert "1 two" not in done.text


async def test_a_long_file_is_read_in_pages_that_split_no_line(hands: Hands):
    text = "".join(f"row {number}\n" for number in range(9_000))
    hands.context.scratchpad.write("long.txt", text)
    pages: list[str] = []
    said, start = "", 0
    while start < len(text):
        done = await hands.act("read_file", file_name="long.txt", start_from_char=start)
        pages.append(done.carried or "")
        start, said = start + len(pages[-1]), done.text
    assert "".join(pages) == text
    assert len(pages) == 2
    assert pages[0].endswith("\n")
    assert len(pages[0]) <= 60_000
    assert f"Read long.txt ({len(text)} characters, {len(pages[0])} to {len(text)} shown)." == said
    beyond = await hands.act("read_file", file_name="long.txt", start_from_char=len(text))
    assert "beyond its end" in beyond.text


async def test_what_cannot_be_read_or_replaced_has_failed(hands: Hands):
    assert "There is no file" in (await hands.act("read_file", file_name="none.md")).text
    hands.context.scratchpad.write("a.md", "text")
    done = await hands.act("replace_file", file_name="a.md", old_str="nope", new_str="")
    assert done.status is ReceiptStatus.FAILED


async def test_done_hands_the_text_in_with_the_files_that_belong_to_it(hands: Hands):
    hands.context.scratchpad.write("table.csv", "a,b")
    with pytest.raises(RunDone) as caught:
        await hands.act("done", text="Here it is.", success=False, files_to_display=["table.csv"])
    assert caught.value.answer == "Here it is.\n\ntable.csv:\na,b"
    assert caught.value.success is False


async def test_an_answer_is_not_lost_for_a_file_that_does_not_go_with_it(hands: Hands):
    hands.context.scratchpad.write_bytes("shot.png", b"\x89PNG")
    hands.context.scratchpad.write("long.md", "x" * 30_000)
    with pytest.raises(RunDone) as caught:
        await hands.act("done", text="Here.", files_to_display=["shot.png", "none.md", "long.md", "shot.png"])
    assert caught.value.answer.split("\n\n") == [
        "Here.",
        "shot.png (a file)",
        "There is no file none.md; there are: long.md, shot.png, todo.md.",
        "long.md (a file of 30000 characters)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "Dune", "pages": 412}',
        '```json\n{"title": "Dune", "pages": 412}\n```',
        {"title": "Dune", "pages": 412},
    ],
)
async def test_done_with_a_schema_hands_in_the_object(hands: Hands, text: str | dict[str, Any]):
    hands.context.output_schema = SCHEMA
    with pytest.raises(RunDone) as caught:
        await hands.act("done", text=text)
    assert caught.value.answer == {"title": "Dune", "pages": 412}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Dune has 412 pages", "it is not JSON"),
        ('{"title": "Dune", "pages": "many"}', "pages: "),
        ("{}", '"title" is a required'),
    ],
)
async def test_an_answer_that_does_not_fit_the_schema_is_not_accepted(hands: Hands, text: str, says: str):
    hands.context.output_schema = SCHEMA
    done = await hands.act("done", text=text)
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text


async def test_a_schema_that_points_elsewhere_is_not_fetched(hands: Hands):
    hands.context.output_schema = {"$ref": hands.site.url("/schema.json")}
    done = await hands.act("done", text="{}")
    assert "the output schema itself cannot be used" in done.text
    assert "/schema.json" not in hands.site.paths()
