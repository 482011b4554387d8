from playwright.sync_api import expect

from appliance.events import GoalStated, Reviewed
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
