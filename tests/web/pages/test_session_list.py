from playwright.sync_api import expect

from appliance.words import FailureKind
from tests.web.api.running import RunningServer
from tests.web.browsing import Visitor
from tests.web.feeding import feed_session


def test_the_list_lives(eva: Visitor, server: RunningServer) -> None:
    eva.open("/sessions")
    page = eva.page
    page.evaluate("window.sameDocument = true")
    run = feed_session(server, "Count the gulls of the list", started=False)
    row = page.locator(f"#session-{run.id}")
    expect(row).to_contain_text("waiting")
    run.start()
    expect(row).to_contain_text("running")
    run.plan("Count the first gull.")
    expect(row).to_contain_text("Count the first gull.")
    expect(row).to_contain_text("1 step ·")
    expect(row.locator("img")).to_be_visible()
    run.fail(FailureKind.AGENT_FAILURE, "No gulls were found.")
    expect(row).to_contain_text("failed")
    assert page.evaluate("window.sameDocument")
    row.get_by_role("link", name="Count the gulls").click()
    expect(page).to_have_url(f"{eva.url}{run.path}")
    assert eva.complaints == []


def test_a_task_on_the_start_page_is_used_again_with_one_click(eva: Visitor, server: RunningServer) -> None:
    feed_session(server, "Feed the ship's cat").deliver("Fed.")
    eva.open("/")
    eva.page.get_by_role("link", name="Use again: Feed the ship's cat").click()
    expect(eva.page.get_by_label("Task", exact=True)).to_have_value("Feed the ship's cat")
