"""Files given to fields that are hidden, to several at once, to choosers that open late, and dropped."""

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_files.html")
    hands.context.scratchpad.write("one.txt", "1")
    hands.context.scratchpad.write("two.txt", "22")
    return hands


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Choose pictures", "chosen one.txt:1"),
        ("Styled upload", "styled one.txt:1"),
        ("Prepare and pick", "picked one.txt:1"),
        ("Drop files here", "dropped one.txt:1 true"),
    ],
)
async def test_a_file_comes_to_the_page_in_the_way_that_it_wants(page: Hands, name: str, says: str):
    done = await page.act("upload_file", on=name, path="one.txt")
    assert await page.text() == says
    assert done.status is ReceiptStatus.OK


async def test_several_files_are_given_where_the_page_takes_several(page: Hands):
    done = await page.act("upload_file", on="Choose pictures", path=["one.txt", "two.txt"])
    assert await page.text() == "chosen one.txt:1 two.txt:2"
    assert "Gave one.txt (1 bytes), two.txt (2 bytes)" in done.text
    for name in ("Styled upload", "Prepare and pick"):
        done = await page.act("upload_file", on=name, path=["one.txt", "two.txt"])
        assert done.status is ReceiptStatus.FAILED
        assert "one file only" in done.text


async def test_what_takes_no_file_says_so(page: Hands):
    done = await page.act("upload_file", on="Made here", path="one.txt")
    assert done.status is ReceiptStatus.FAILED
    assert "opened no file chooser" in done.text
