"""What is written down of a page that shows a secret: files, names of files, PDFs."""

import io
import json

import pytest
from pypdf import PdfReader

from appliance.sensitive import SensitiveData
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands

SECRET = "hunter2-secret"
MARK = "<secret>pin</secret>"


@pytest.fixture
def guarded(hands: Hands) -> Hands:
    hands.context.sensitive = SensitiveData.read({"pin": SECRET})
    hands.browser.hide(lambda: hands.context.sensitive.values, hands.context.sensitive.is_in)
    return hands


def everything(hands: Hands) -> bytes:
    return b"\n".join(
        file.name.encode() + b" " + file.read_bytes()
        for file in hands.context.scratchpad.root.iterdir()
        if file.is_file()
    )


async def test_no_file_of_the_agent_is_written_with_a_secret_in_it(guarded: Hands):
    await guarded.open("act_second.html")
    await guarded.act("write_file", file_name="a.md", content=f"The pin is {SECRET}.")
    await guarded.act("write_file", file_name="a.md", content="hunter2", append=True)
    await guarded.act("write_file", file_name="a.md", content="-secret", append=True)
    await guarded.act("replace_file", file_name="a.md", old_str="The", new_str=f"{SECRET} the")
    await guarded.act("write_file", file_name="t.csv", content=f"a,b\n1,{SECRET}\n")
    await guarded.act("checkpoint", file_name="c.json", value={"pin": SECRET})
    await guarded.act("remember", key="pin", value=f"x{SECRET}x")
    await guarded.act("evaluate", code=f"'{SECRET} '.repeat(500)")
    written = everything(guarded)
    assert SECRET.encode() not in written
    assert written.count(MARK.encode()) >= 500
    assert guarded.context.scratchpad.read("a.md") == f"{MARK} the pin is {MARK}.{MARK}"
    assert json.loads(guarded.context.scratchpad.read("c.json")) == {"pin": MARK}


async def test_a_download_is_not_named_by_a_secret(guarded: Hands):
    await guarded.open("act_second.html")
    for name in (f"{SECRET}.csv", f"report.{SECRET}", "hunter2 - secret.csv", "report.csv"):
        await guarded.act("navigate", url=guarded.site.url(f"/attachment?name={name.replace(' ', '%20')}"))
        await guarded.act("wait_for", download=True, seconds=20)
    names = [download.name for download in guarded.browser.downloads.all]
    assert names == ["download.csv", "download", "download(1).csv", "report.csv"]
    assert guarded.browser.downloads.path_of("download.csv").read_text() == "a,b\n1,2\n"


async def test_a_pdf_of_the_page_holds_no_secret(guarded: Hands):
    await guarded.open("act_second.html")
    await guarded.js(f"""document.title = 'Account {SECRET}'; document.body.innerHTML =
        '<p>Your pin is {SECRET}</p><a href="https://shop.example/?pin={SECRET}">Link</a><img alt="{SECRET}">'; 1""")
    done = await guarded.act("save_as_pdf")
    assert done.status is ReceiptStatus.OK
    name = next(entry.name for entry in guarded.context.scratchpad.listing() if entry.name.endswith(".pdf"))
    assert SECRET not in name
    data = (guarded.context.scratchpad.root / name).read_bytes()
    reader = PdfReader(io.BytesIO(data))
    assert reader.metadata is not None
    assert reader.metadata.title == f"Account {MARK}"
    page = reader.pages[0]
    assert "•••" in page.extract_text()
    links = [str(one.get_object()["/A"]["/URI"]) for one in page.annotations or ()]
    assert links == [f"https://shop.example/?pin={MARK}"]
    objects = b"\n".join(repr(reader.get_object(number)).encode() for number in range(1, len(reader.xref[0]) + 1))
    assert SECRET.encode() not in data + objects
    assert SECRET not in page.extract_text()


async def test_a_pdf_is_kept_as_it_was_made_where_there_are_no_secrets(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("document.title = 'Plain title'; 1")
    await hands.act("save_as_pdf", file_name="kept")
    reader = PdfReader(hands.context.scratchpad.root / "kept.pdf")
    assert reader.metadata is not None
    assert reader.metadata.title == "Plain title"
