import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands
from tests.site.generated import pdf


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_leaving.html")
    return hands


def contents(page: Hands) -> dict[str, str]:
    assert page.browser.downloads.folder is not None
    return {path.name: path.read_text() for path in page.browser.downloads.folder.iterdir()}


async def test_downloads_are_kept_under_names_of_their_own(page: Hands):
    for name in ("Report", "Same again", "Blob"):
        done = await page.act("click", on=name)
        assert done.status is ReceiptStatus.OK
        assert "download of" in done.text
        await page.act("wait_for", download=True)
    assert contents(page) == {"report.csv": "a,b", "report(1).csv": "c,d", "made.txt": "made in the page"}


async def test_a_slow_download_does_not_hold_the_click_up(page: Hands):
    done = await page.act("click", on="Slow file")
    assert "download of slow.bin has started" in done.text
    assert done.duration_ms < 2500
    done = await page.act("wait_for", download=True, seconds=10)
    assert "download of slow.bin is complete (6000 bytes)" in done.text
    assert set(contents(page)) == {"slow.bin"}


async def test_a_download_can_be_read_and_given_back(page: Hands):
    await page.act("click", on="Report")
    await page.act("wait_for", download=True)
    assert (await page.act("read_file", file_name="report.csv")).carried == "a,b"
    done = await page.act("upload_file", on="File", path="report.csv")
    assert done.status is ReceiptStatus.OK
    assert await page.js("document.getElementById('file').files[0].name") == "report.csv"


async def test_a_file_that_is_still_on_its_way_or_gone_is_not_given_and_that_is_said(page: Hands):
    await page.act("click", on="Slow file")
    done = await page.act("upload_file", on="File", path="slow.bin")
    assert done.status is ReceiptStatus.FAILED
    assert "download of slow.bin is not complete yet" in done.text
    await page.act("wait_for", download=True)
    assert page.browser.downloads.folder is not None
    (page.browser.downloads.folder / "slow.bin").unlink()
    for done in (
        await page.act("upload_file", on="File", path="slow.bin"),
        await page.act("read_file", file_name="slow.bin"),
    ):
        assert done.status is ReceiptStatus.FAILED
        assert "There is no file" in done.text


async def test_a_name_that_climbs_out_of_the_folder_stays_in_it(page: Hands):
    await page.act("navigate", url=page.site.url("/attachment?name=..%2F..%2Fevil.csv"))
    await page.act("wait_for", download=True)
    assert all("evil.csv" in name for name in contents(page))
    assert len(contents(page)) == 1


async def test_waiting_for_a_download_that_does_not_come_fails(page: Hands):
    assert (await page.act("wait_for", download=True, seconds=0.2)).status is ReceiptStatus.FAILED


@pytest.fixture
async def files(hands: Hands) -> Hands:
    await hands.open("act_files.html")
    return hands


@pytest.mark.parametrize(
    ("name", "kept", "data"),
    [
        ("Data link", "data.txt", b"data words"),
        ("Made here", "blob.txt", b"blob words"),
        ("Keep the invoice", "invoice.pdf", pdf("Kept invoice")),
        ("Accents", "résumé.txt", b"cv"),
    ],
)
async def test_what_is_kept_has_the_bytes_and_the_name_it_was_sent_with(
    files: Hands, name: str, kept: str, data: bytes
):
    await files.act("click", on=name)
    done = await files.act("wait_for", download=True)
    assert f"download of {kept} is complete ({len(data)} bytes)" in done.text
    assert files.browser.downloads.path_of(kept).read_bytes() == data


async def test_a_download_that_breaks_off_has_failed_and_leaves_no_file(files: Hands):
    await files.act("click", on="Broken file")
    done = await files.act("wait_for", download=True)
    assert (done.status, "broken.bin failed" in done.text) == (ReceiptStatus.FAILED, True)
    await files.act("click", on="Empty file")
    assert "the file is empty" in (await files.act("wait_for", download=True)).text
    assert set(contents(files)) == {"empty.txt"}


async def test_a_download_that_ends_later_is_told_once_in_what_is_seen_next(page: Hands):
    await page.act("click", on="Slow file")
    assert await page.browser.downloads.wait_complete(20)
    seen = await page.browser.observe(with_screenshot=False)
    assert [note for note in seen.notes if "slow.bin is complete (6000 bytes)" in note]
    seen = await page.browser.observe(with_screenshot=False)
    assert not [note for note in seen.notes if "slow.bin" in note]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Open the invoice", "Invoice 4711"),
        ("Invoice in a tab", "Second copy"),
        ("Show a made invoice", "Blob invoice"),
    ],
)
async def test_a_pdf_in_a_tab_is_read_and_kept_as_it_is(files: Hands, name: str, words: str):
    await files.act("click", on=name)
    seen = await files.browser.observe(with_screenshot=False)
    assert any("shows a PDF" in note for note in seen.notes)
    files.model.answer = "read"
    await files.act("extract", query="What does it say?")
    assert words in str(files.model.asked[-1].messages)
    first = await files.act("save_as_pdf", file_name="kept")
    await files.act("save_as_pdf", file_name="kept")
    assert "as it is" in first.text
    for kept in ("kept.pdf", "kept(1).pdf"):
        assert (files.context.scratchpad.root / kept).read_bytes() == pdf(words)


async def test_a_page_is_kept_as_a_pdf_and_a_picture_under_names_of_their_own(files: Hands):
    for _ in range(2):
        assert (await files.act("save_as_pdf")).status is ReceiptStatus.OK
        assert (await files.act("screenshot")).status is ReceiptStatus.OK
    kept = {path.name: path.read_bytes() for path in files.context.scratchpad.root.iterdir()}
    assert {"Files.pdf", "Files(1).pdf", "screenshot.png", "screenshot(1).png"} <= set(kept)
    assert kept["Files.pdf"].startswith(b"%PDF")
    assert kept["screenshot.png"].startswith(b"\x89PNG")
