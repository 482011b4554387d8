from playwright.sync_api import expect

from appliance.events import GoalStated, Notice, Reviewed
from appliance.words import Ending, FailureKind
from tests.web.api.running import RunningServer
from tests.web.browsing import Visitor
from tests.web.feeding import feed_session


def test_the_goal_stands_in_the_feed(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Buy a lamp")
    eva.open(run.path)
    server.append(run.id, GoalStated(goal="One <lamp> & its price."))
    expect(eva.page.locator(".row-line", has_text="Goal:")).to_have_text("Goal: One <lamp> & its price.")


def test_what_the_reviewer_wants_stands_in_the_feed(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Buy a lamp")
    eva.open(run.path)
    server.append(run.id, Reviewed(verdict=False, text="One <lamp> is missing."))
    expect(eva.page.locator(".row-line", has_text="Review")).to_have_text(
        "Review, changes asked for: One <lamp> is missing."
    )
    server.append(run.id, Reviewed(verdict=False, text="It is handed over.", recorded=True))
    expect(eva.page.locator(".row-line", has_text="not agreed")).to_have_text("Review, not agreed: It is handed over.")


def test_what_bulk_actions_and_the_gate_tell_stands_in_the_feed_with_what_it_is_about(
    eva: Visitor, server: RunningServer
) -> None:
    run = feed_session(server, "Buy a lamp")
    eva.open(run.path)
    server.append(run.id, Notice(code="read_pages", text="Read 14 of 14 pages."))
    expect(eva.page.locator(".row-line", has_text="14 pages")).to_have_text("Pages: Read 14 of 14 pages.")
    server.append(run.id, Notice(code="start_url", text="The task begins here."))
    expect(eva.page.locator(".row-line", has_text="begins here")).to_have_text("Memory: The task begins here.")
    server.append(run.id, Notice(code="reply_repaired", text="It is asked again."))
    expect(eva.page.locator(".row-line", has_text="asked again")).to_have_text("It is asked again.")


def test_an_answer_that_a_run_out_of_money_still_delivered_is_shown_as_delivered(
    eva: Visitor, server: RunningServer
) -> None:
    run = feed_session(server, "Find the bells", output_schema={"type": "object"})
    text = "What was in the answer store by then fits the output schema and is delivered. 1 item: name on all."
    run.deliver(
        {"bells": [{"name": "Bell"}]},
        summary=f"The money is used up. {text}",
        ending=Ending.BUDGET_SPENT,
        failure=FailureKind.BUDGET_EXCEEDED,
        notice=Notice(code="store_delivered", text=text),
    )
    eva.open(run.path)
    expect(eva.page.locator("#facts")).to_contain_text("delivered")
    expect(eva.page.locator(".row-line", has_text="answer store")).to_have_text(f"Answer: {text}")
    expect(eva.page.locator(".answer h2")).to_have_text("Answer")
    expect(eva.page.get_by_label("Result")).to_contain_text("The money for this task was used up")


def test_text_of_a_site_does_not_turn_the_order_of_what_stands_around_it(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Buy a \u202elamp")
    eva.open(run.path)
    server.append(run.id, Notice(code="read_pages", text="Opened \u202egpj.exe\u2066 and <b>\u2067went on</b> שלום."))
    row = expect(eva.page.locator(".row-line", has_text="went on"))
    row.to_have_text("Pages: Opened gpj.exe and <b>went on</b> שלום.")
    text = eva.page.locator("body").inner_text()
    assert not any(sign in text for sign in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert "Buy a lamp" in text
    assert (
        eva.page.locator(".row-line").first.evaluate(
            "node => getComputedStyle(node.querySelector('span') || node).unicodeBidi"
        )
        == "isolate"
    )
