import re

import pytest
from playwright.sync_api import expect

from appliance.words import Ending, FailureKind, ReceiptStatus, RunStatus, SessionStatus
from tests.web.api.running import RunningServer
from tests.web.browsing import LOOKS, Visitor, visit
from tests.web.feeding import feed_session
from web.wording import say_failure


def test_steps_receipts_and_answer_arrive_without_a_reload(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Record every lamp", started=False)
    page = eva.page
    eva.open(run.path)
    page.evaluate("window.sameDocument = true")
    expect(page.locator("#facts")).to_contain_text(re.compile(r"waiting, \d+(st|nd|rd|th) in line"))
    expect(page.locator("#cover-text")).to_have_text("Waiting for a free slot")
    run.start()
    expect(page.locator("#facts")).to_contain_text("running")
    expect(page.locator(".activity")).to_be_visible()
    run.plan("Click “Next page”.", "click", "wait_for")
    step = page.locator(".row-step")
    expect(step).to_contain_text("A list of lamps.")
    expect(step).to_contain_text("Click “Next page”.")
    expect(step.locator(".call.is-pending")).to_have_count(2)
    expect(page.locator(".activity")).to_be_hidden()
    run.receive("Clicked “Next page”; went from /lamps to /lamps/2.")
    expect(step.locator(".call.is-ok")).to_contain_text("went from /lamps to /lamps/2")
    run.receive("“Page 2” did not appear within 5 s.", ReceiptStatus.FAILED)
    expect(step.locator(".call.is-failed")).to_contain_text("did not appear")
    expect(page.locator("#facts")).to_contain_text("step 1")
    run.notice("The model's answer could not be used; it was asked again.")
    expect(page.locator(".row-line.is-trouble")).to_contain_text("asked again")
    run.deliver("There are **14** lamps.")
    expect(page.locator(".answer .prose strong")).to_have_text("14")
    expect(page.locator("#facts")).to_contain_text("delivered")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.locator("#screen")).to_have_attribute("data-state", "ended")
    expect(page.get_by_alt_text("The last picture of the agent's browser")).to_be_visible()
    assert page.evaluate("window.sameDocument")
    live = page.locator("#feed").inner_html()
    eva.open(run.path)
    assert _plain(page.locator("#feed").inner_html()) == _plain(live), "the page renders what the feed sent"
    assert eva.complaints == []


def _plain(html: str) -> str:
    return re.sub(r">\s+<", "><", re.sub(r"\s+", " ", html.replace(' data-htmx-powered="true"', "")).strip())


def test_a_structured_answer_is_a_table_and_can_be_had_as_json(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Record every lamp", output_schema={"type": "object"})
    run.deliver(
        {"shop": "Chandlery", "lamps": [{"name": "<b>Brass</b>", "price": 1.5}, {"name": "Oil", "price": None}]}
    )
    eva.open(run.path)
    page = eva.page
    assert page.locator(".answer-facts").inner_text().split() == ["shop", "Chandlery"]
    assert page.locator("tbody tr").first.inner_text().split() == ["<b>Brass</b>", "1.5"]
    page.get_by_text("JSON", exact=True).click()
    expect(page.locator("#answer-raw")).to_contain_text('"price": 1.5')


def test_the_answer_cannot_bring_script_or_markup_of_its_own(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Read a hostile page")
    run.deliver(
        "<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![p](http://evil.example/p.png) [ok](http://a.b)"
    )
    eva.open(run.path)
    prose = eva.page.locator(".prose")
    expect(prose).to_contain_text("<img src=x onerror=alert(1)>")
    assert prose.locator("img, script").count() == 0
    links = prose.locator("a").evaluate_all("links => links.map((link) => [link.getAttribute('href'), link.rel])")
    assert ["http://a.b", "noopener noreferrer nofollow"] in links
    assert all(href.startswith("http") for href, _ in links)
    assert eva.complaints == []


def test_a_failure_opens_with_its_kind_in_words_and_what_to_do(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Order two bells")
    run.fail(FailureKind.PROVIDER_RATE_LIMIT, "The provider answered 429 three times.", status_code=429)
    eva.open(run.path)
    result = eva.page.get_by_label("Result")
    expect(result.get_by_role("heading")).to_have_text("The model's provider would not take more requests")
    expect(result).to_contain_text("The provider answered 429 three times.")
    expect(result).to_contain_text("Wait a minute and start the task again.")
    expect(result).to_contain_text("provider_rate_limit, the provider answered 429")
    expect(eva.page.locator("#facts")).to_contain_text("failed")


def test_every_failure_kind_has_words() -> None:
    said = {say_failure(kind).headline for kind in [*FailureKind, None]}
    assert len(said) == len(FailureKind) + 1


def test_a_run_that_was_cut_off_says_so(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Work through a restart")
    run.fail(None, "The server was started anew.", ending=Ending.INTERRUPTED)
    eva.open(run.path)
    expect(eva.page.get_by_label("Result").get_by_role("heading")).to_have_text("The run was interrupted")


def test_stop_ends_a_waiting_session(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Wait for ever", started=False)
    eva.open(run.path)
    eva.page.get_by_role("button", name="Stop").click()
    expect(eva.page.locator("#facts")).to_contain_text("stopped")
    session = server.do(lambda: server.appliance.sessions.find(run.id))
    assert session.status is SessionStatus.STOPPED
    runs = server.do(lambda: server.appliance.sessions.list_runs(run.id))
    assert [each.status for each in runs] == [RunStatus.ENDED]
    expect(eva.page.get_by_label("Result")).to_contain_text("The run was stopped before it had an answer.")


def test_an_open_session_takes_its_next_task(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Find the hours", keep_alive=True)
    run.rest("8:00 to 16:30")
    eva.open(run.path)
    expect(eva.page.get_by_role("button", name="End session")).to_be_visible()
    eva.page.get_by_label("Next task for this session").fill("And on Sundays?")
    eva.page.get_by_role("button", name="Send").click()
    expect(eva.page.locator(".row-task")).to_have_count(2)
    expect(eva.page.locator(".row-task").last).to_contain_text("And on Sundays?")
    expect(eva.page.locator(".answer")).to_have_count(0)


@pytest.mark.parametrize("failure", [None, FailureKind.PROVIDER_RATE_LIMIT])
def test_a_conversation_takes_its_next_task_however_the_one_before_ended(
    eva: Visitor, server: RunningServer, failure: FailureKind | None
) -> None:
    run = feed_session(server, "Find the hours", keep_alive=True)
    run.fail(failure, "It did not get there.")
    eva.open(run.path)
    eva.page.get_by_label("Next task for this session").fill("And on Sundays?")
    eva.page.get_by_role("button", name="Send").click()
    expect(eva.page.locator(".row-task")).to_have_count(2)
    server.do(lambda: server.appliance.sessions.stop(run.id))
    eva.open(run.path)
    expect(eva.page.get_by_label("Next task for this session")).to_be_hidden()


def test_the_feed_keeps_to_its_end_until_somebody_reads_further_up(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Work long")
    for _ in range(6):
        run.plan()
        run.receive("Clicked.")
    page = eva.page
    eva.open(run.path)
    gap = "el => el.scrollHeight - el.scrollTop - el.clientHeight"
    scroller = page.locator("#feed-scroll")
    run.plan("Seventh move.")
    expect(page.get_by_text("Seventh move.")).to_be_in_viewport()
    assert scroller.evaluate(gap) < 48
    scroller.evaluate("el => { el.scrollTop = 0; }")
    expect(page.get_by_text("A browser starts on slot 0.")).to_be_in_viewport()
    run.receive("Clicked.")
    run.plan("Eighth move.")
    pill = page.get_by_role("button", name="1 new row")
    expect(pill).to_be_visible()
    assert scroller.evaluate("el => el.scrollTop") == 0
    run.plan("Ninth move.")
    page.get_by_role("button", name="2 new rows").click()
    expect(page.get_by_text("Ninth move.")).to_be_in_viewport()
    expect(page.locator("#pill")).to_be_hidden()


def test_a_thumbnail_opens_large_and_closes_by_keyboard(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Look closely")
    run.plan()
    eva.open(run.path)
    page = eva.page
    page.get_by_role("link", name="Picture of step 1").focus()
    page.keyboard.press("Enter")
    picture = page.get_by_role("dialog")
    expect(picture.get_by_role("img")).to_be_visible()
    assert picture.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    page.keyboard.press("Escape")
    expect(picture).to_be_hidden()


def test_earlier_steps_of_a_long_run_are_one_click_away(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Work very long")
    run.notices(205)
    eva.open(run.path)
    expect(eva.page.get_by_text("note 204.")).to_be_attached()
    expect(eva.page.get_by_text("note 0.")).to_have_count(0)
    eva.page.get_by_role("link", name="Show earlier steps").click()
    expect(eva.page.get_by_text("note 0.")).to_be_attached()


def test_an_unknown_session_is_a_page_that_says_so(eva: Visitor) -> None:
    assert eva.open("/sessions/00000000-0000-7000-8000-000000000000") == 404
    expect(eva.page.get_by_role("heading")).to_have_text("There is no such page")


def test_on_a_phone_everything_is_in_reach_and_nothing_sticks_out(server: RunningServer, eva: Visitor) -> None:
    run = feed_session(server, "Record every lamp on https://shop.example.com/a/very/long/address/without/any/space")
    run.plan("Open https://shop.example.com/" + "x" * 120)
    browser = eva.page.context.browser
    assert browser is not None
    with visit(browser, server.url, **LOOKS["phone"]) as visitor:
        visitor.take_cookies(eva.page.context.cookies())
        visitor.open(run.path)
        expect(visitor.page.get_by_role("button", name="Stop")).to_be_in_viewport()
        assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_run_that_is_over_can_be_seen_as_a_film_and_done_again(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Record one lamp")
    eva.open(run.path)
    expect(eva.page.get_by_role("link", name="Film")).to_be_hidden()
    run.plan("Open the shop.")
    run.receive("Opened the shop.")
    run.deliver("One lamp.")
    run.keep_record()
    film = eva.page.get_by_role("link", name="Film").get_attribute("href")
    answer = eva.page.request.get(f"{server.url}{film}")
    assert (answer.status, answer.headers["content-type"]) == (200, "image/webp")
    eva.page.get_by_role("button", name="Replay").click()
    expect(eva.page.get_by_role("heading", name="Replay: Record one lamp")).to_be_visible()
    assert not eva.page.url.endswith(run.path)


def test_what_each_task_has_cost_stands_beside_the_sum_once_there_are_several(
    eva: Visitor, server: RunningServer
) -> None:
    run = feed_session(server, "Count the lamps", keep_alive=True)
    run.spend("0.25")
    run.rest("14")
    eva.open(run.path)
    costs = eva.page.get_by_title("What each task has cost, in their order")
    expect(costs).to_have_count(0)
    with server.client() as http:
        http.post("/v3/sessions", json={"task": "Count again", "sessionId": str(run.id)})
    run.spend("0.5")
    eva.open(run.path)
    expect(costs).to_have_text("$0.250 + $0.500")
    run.spend("0.25")
    expect(costs).to_have_text("$0.250 + $0.750")
