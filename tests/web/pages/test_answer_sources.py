"""The answer in the page: a value is opened, and shows where it was read."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from appliance.persistence.records import SessionRecord
from appliance.runtime.folders import SessionFolders
from appliance.runtime.links import live_url
from appliance.store.coverage import Absence
from appliance.store.evidence import Provenance
from appliance.store.sources import trace
from tests.web.api.running import RunningServer
from tests.web.browsing import LOOKS, Visitor, visit
from tests.web.feeding import PICTURE, FedSession, feed_session

AT = datetime(2026, 11, 30, 12, 3, 4, tzinfo=UTC)
PAGE = "http://shop.example/bells/1"
ANSWER: dict[str, Any] = {
    "shop": "Lee Shore",
    "home": "http://shop.example/",
    "bells": [{"name": "Ship's bell", "price": 74.9, "date": None, "note": "Loud"}],
}


def trace_bells(answer: Any) -> dict[str, Any]:
    def read(quote: str) -> Provenance:
        return Provenance(PAGE, quote, AT, 2, "001-0002.jpg")

    return trace(
        answer,
        {
            "/shop": read("Welcome to Lee Shore"),
            "/home": read("http://shop.example/"),
            "/bells/0/name": read("Ship's bell, brass"),
            "/bells/0/price": read("Ship's bell — Price: 74.9 EUR"),
            "/bells/0/date": Absence("The page has no date."),
        },
    )


def bells(server: RunningServer, answer: Any = None) -> FedSession:
    run = feed_session(server, "Find the bells", output_schema={"type": "object"})
    folders = SessionFolders.of(server.settings, run.id)
    folders.make()
    (folders.screenshots / "001-0002.jpg").write_bytes(PICTURE)
    given = answer or ANSWER
    run.deliver(given, provenance=trace_bells(given))
    return run


@pytest.mark.parametrize("look", LOOKS)
def test_a_value_opened_by_click_or_key_shows_page_words_time_and_picture(
    server: RunningServer, browser: Browser, cookies: Sequence[Any], look: str
) -> None:
    run = bells(server)
    with visit(browser, server.url, **LOOKS[look]) as visitor:
        visitor.take_cookies(cookies)
        visitor.open(run.path)
        page = visitor.page
        told = page.get_by_role("dialog", name="Where this was read")
        price = page.get_by_role("button", name="74.9")
        price.focus()
        page.keyboard.press("Enter")
        expect(told.locator(".source-quote mark")).to_have_text("74.9")
        expect(told).to_contain_text("bells, row 1, price")
        expect(told.get_by_role("link", name=PAGE)).to_have_attribute("href", PAGE)
        expect(told).to_contain_text("2026-11-30 12:03:04 UTC in step 2")
        picture = told.get_by_role("img")
        expect(picture).to_have_js_property("naturalWidth", 64)
        assert page.evaluate("document.documentElement.scrollWidth") <= LOOKS[look]["viewport"]["width"]
        page.keyboard.press("Escape")
        expect(told).to_be_hidden()
        expect(price).to_be_focused()
        page.get_by_role("button", name="Ship's bell").click()
        expect(told).to_contain_text("Ship's bell, brass")
        told.get_by_role("button", name="Close").click()
        expect(told).to_be_hidden()
        assert visitor.complaints == []


def test_an_absent_value_says_why_and_one_from_no_page_says_so(eva: Visitor, server: RunningServer) -> None:
    run = bells(server)
    eva.open(run.path)
    page = eva.page
    told = page.get_by_role("dialog", name="Where this was read")
    page.locator("button.is-absent").click()
    expect(told).to_contain_text("The page has no date.")
    page.keyboard.press("Escape")
    expect(page.locator(".answer-key")).to_contain_text("1 value was not seen on any page")
    note = page.get_by_role("button", name="Loud")
    expect(note).to_have_attribute("title", "Not seen on any page")
    note.click()
    expect(told).to_contain_text("not seen on any page that was read")
    assert eva.complaints == []


def test_a_link_in_the_answer_stays_a_link_and_has_its_source_beside(eva: Visitor, server: RunningServer) -> None:
    run = bells(server)
    eva.open(run.path)
    home = eva.page.locator(".answer-facts div", has_text="home")
    expect(home.get_by_role("link")).to_have_attribute("href", "http://shop.example/")
    home.get_by_role("button", name="source").click()
    expect(eva.page.locator("#source .source-quote")).to_have_text("http://shop.example/")


def test_a_value_of_several_parts_shows_the_source_of_each(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Find the sizes", output_schema={"type": "object"})
    answer = {"size": {"width": 3, "unit": "cm"}}
    run.deliver(answer, provenance=trace(answer, {"/size/width": Provenance(PAGE, "3 cm wide", AT)}))
    eva.open(run.path)
    eva.page.locator("button.value").click()
    told = eva.page.locator("#source .source-entry")
    expect(told).to_have_count(2)
    expect(told.first).to_contain_text("size, width")
    expect(told.first).to_contain_text("There is no picture of it.")
    expect(told.last).to_contain_text("not seen on any page")


def test_an_answer_that_arrives_while_one_looks_on_can_be_asked_at_once(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Find the bells", output_schema={"type": "object"})
    eva.open(run.path)
    expect(eva.page.locator("#facts")).to_contain_text("running")
    run.deliver(ANSWER, provenance=trace_bells(ANSWER))
    eva.page.get_by_role("button", name="74.9").click()
    expect(eva.page.locator("#source .source-quote mark")).to_have_text("74.9")
    expect(eva.page.locator("#source")).to_contain_text("There is no picture of it.")
    expect(eva.page.locator("#source img")).to_have_count(0)
    assert eva.complaints == []


def test_without_script_a_value_opens_as_a_page(
    server: RunningServer, browser: Browser, cookies: Sequence[Any]
) -> None:
    run = bells(server)
    with visit(browser, server.url, java_script_enabled=False) as visitor:
        visitor.take_cookies(cookies)
        visitor.open(run.path)
        visitor.page.get_by_role("button", name="74.9").click()
        expect(visitor.page.locator(".source-quote mark")).to_have_text("74.9")
        visitor.page.get_by_role("link", name="Back to the answer").click()
        expect(visitor.page.locator(".answer")).to_be_visible()


def test_who_holds_the_link_of_a_session_may_ask_and_nobody_else(
    server: RunningServer, stranger: Visitor, browser: Browser
) -> None:
    run = bells(server)
    address = live_url("", server.appliance.signer, run.id)
    stranger.open(address)
    stranger.page.get_by_role("button", name="74.9").click()
    expect(stranger.page.locator("#source .source-quote mark")).to_have_text("74.9")
    expect(stranger.page.locator("#source img")).to_have_js_property("naturalWidth", 64)
    assert stranger.complaints == []
    for path in (f"/live/{run.id}/source?at=/shop", f"/live/{run.id}/answer/json"):
        assert httpx.get(server.url + path, trust_env=False).status_code == 401


def test_a_pointer_to_nothing_is_told_as_unknown(eva: Visitor, server: RunningServer) -> None:
    run = bells(server)
    assert eva.open(f"/live/{run.id}/source?at=/bells/7/price") == 200
    expect(eva.page.locator(".callout")).to_contain_text("not known where this value was read")


def test_what_pages_wrote_is_text_in_the_source_too(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Read a hostile page", output_schema={"type": "object"})
    evil = Provenance("javascript:alert(1)", "<img src=x onerror=alert(1)> <b>4</b>", AT)
    run.deliver({"n": "<b>4</b>"}, provenance=trace({"n": "<b>4</b>"}, {"/n": evil}))
    eva.open(run.path)
    eva.page.locator("button.value").click()
    expect(eva.page.locator("#source mark")).to_have_text("<b>4</b>")
    assert eva.page.locator("#source img, #source .source-facts a").count() == 0
    assert eva.complaints == []


def test_hundreds_of_rows_scroll_in_their_own_frame_and_can_be_saved(eva: Visitor, server: RunningServer) -> None:
    answer = {"bells": [{"name": f"Bell {number}", "price": number} for number in range(400)]}
    run = bells(server, answer)
    eva.open(run.path)
    table = eva.page.locator(".answer-table")
    assert table.locator("tbody tr").count() == 400
    box = table.bounding_box()
    assert box is not None and box["height"] < 600
    with eva.page.expect_download() as saving:
        eva.page.get_by_role("link", name="Save as CSV").click()
    lines = saving.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("name,price", "Bell 399,399", 401)
    with eva.page.expect_download() as saving:
        eva.page.get_by_role("link", name="Save as JSON").click()
    assert saving.value.suggested_filename == f"answer-{run.id}.json"
    session: SessionRecord = server.do(lambda: server.appliance.sessions.find(run.id))
    assert session.output == answer
