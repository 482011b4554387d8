from playwright.sync_api import expect

from appliance.events import GoalStated
from tests.web.api.running import RunningServer
from tests.web.browsing import Visitor
from tests.web.feeding import feed_session


def test_the_goal_stands_in_the_feed(eva: Visitor, server: RunningServer) -> None:
    run = feed_session(server, "Buy a lamp")
    eva.open(run.path)
    server.append(run.id, GoalStated(goal="One <lamp> & its price."))
    expect(eva.page.locator(".row-line", has_text="Goal:")).to_have_text("Goal: One <lamp> & its price.")
