"""Pause and Resume on the page of a session: the one that can be pressed is there, by mouse and by keyboard."""

from playwright.sync_api import expect

from appliance.events import Notice
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Transaction
from appliance.persistence.runs import change_run, find_latest_run
from appliance.words import Lifecycle
from tests.web.api.running import RunningServer
from tests.web.browsing import Visitor
from tests.web.feeding import FedSession, feed_session


def _pause(run: FedSession, *, on: bool) -> None:
    """Do what a worker does when its run is paused or resumed."""

    async def write(transaction: Transaction) -> None:
        latest = await find_latest_run(transaction, run.id)
        assert latest is not None
        await change_run(transaction, latest.id, paused_at=utc_now() if on else None, started_at=utc_now())

    run.server.write(write)
    notice = Notice(code="paused", text="The run is paused.") if on else Notice(code="resumed", text="The run goes on.")
    run.server.append(run.id, notice, {"lifecycle": Lifecycle.PAUSED if on else None})


def test_the_page_says_live_that_the_run_is_paused_and_its_clock_stands_still(
    eva: Visitor, server: RunningServer
) -> None:
    run = feed_session(server, "Record every lamp")
    page = eva.page
    eva.open(run.path)
    page.evaluate("window.sameDocument = true")
    pause, resume = page.get_by_role("button", name="Pause"), page.get_by_role("button", name="Resume")
    expect(pause).to_be_visible()
    expect(resume).to_be_hidden()
    _pause(run, on=True)
    expect(page.locator("#facts")).to_contain_text("paused")
    expect(page.locator("#facts [data-clock]")).to_have_count(0)
    expect(page.locator("#feed")).to_contain_text("The run is paused.")
    expect(pause).to_be_hidden()
    expect(resume).to_be_visible()
    _pause(run, on=False)
    expect(page.locator("#facts")).to_contain_text("running")
    expect(page.locator("#facts [data-clock]")).to_have_count(1)
    expect(pause).to_be_visible()
    run.deliver("Done.")
    expect(pause).to_be_hidden()
    expect(resume).to_be_hidden()
    assert page.evaluate("window.sameDocument")
    assert eva.complaints == []


def test_pausing_is_sent_without_leaving_the_page_and_the_keyboard_goes_on_at_resume(
    eva: Visitor, server: RunningServer
) -> None:
    run = feed_session(server, "Record every lamp")
    page = eva.page
    eva.open(run.path)
    page.evaluate("window.sameDocument = true")
    pause = page.get_by_role("button", name="Pause")
    pause.focus()
    with page.expect_response("**/pause") as answered:
        page.keyboard.press("Enter")
    # No worker holds this run, so it is refused; with the sign against forged forms it would be 403.
    assert answered.value.status == 409
    _pause(run, on=True)
    expect(page.get_by_role("button", name="Resume")).to_be_focused()
    assert page.evaluate("window.sameDocument")
