import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


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


async def test_a_name_that_climbs_out_of_the_folder_stays_in_it(page: Hands):
    await page.act("navigate", url=page.site.url("/attachment?name=..%2F..%2Fevil.csv"))
    await page.act("wait_for", download=True)
    assert all("evil.csv" in name for name in contents(page))
    assert len(contents(page)) == 1


async def test_waiting_for_a_download_that_does_not_come_fails(page: Hands):
    assert (await page.act("wait_for", download=True, seconds=0.2)).status is ReceiptStatus.FAILED
