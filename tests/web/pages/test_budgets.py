from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import pytest
from playwright.sync_api import Browser, expect

from appliance.persistence.database import Transaction
from appliance.persistence.records import Payer
from appliance.persistence.teams import find_first_team
from appliance.persistence.users import find_user
from appliance.runtime.caps import CapWish
from appliance.words import CapScope, Period
from tests.appliance.runtime.spending import make_run, spend
from tests.web.api.running import RunningServer
from tests.web.browsing import EMAIL, LOOKS, Visitor, visit


def first_team(server: RunningServer) -> UUID:
    async def read(transaction: Transaction) -> UUID:
        return (await find_first_team(transaction)).id

    return server.write(read)


@pytest.fixture
def clean(server: RunningServer) -> Callable[[], None]:
    """Return what takes all caps away, having done so."""

    def remove_all() -> None:
        async def work() -> None:
            for gauge in await server.appliance.caps.list_gauges():
                await server.appliance.caps.remove(gauge.cap.id)

        server.do(work)

    remove_all()
    return remove_all


def spend_as_team(server: RunningServer, amount: str) -> None:
    team_id = first_team(server)

    async def work() -> None:
        database = server.appliance.database
        await spend(database, await make_run(database, Payer(team_id)), amount)

    server.do(work)


def test_a_cap_is_set_raised_and_removed_with_the_keyboard_and_without_a_script(
    eva: Visitor, server: RunningServer, clean: Callable[[], None]
) -> None:
    page = eva.page
    page.get_by_role("link", name="Budgets").click()
    expect(page.get_by_text("Nothing is capped yet")).to_be_visible()
    page.get_by_label("Each").select_option("lifetime")
    page.get_by_label("Hard limit, $").fill("5")
    page.get_by_label("Soft limit, $").fill("9")
    page.get_by_label("Soft limit, $").press("Enter")
    expect(page.get_by_text("softUsd is higher than hardUsd")).to_be_visible()
    expect(page.get_by_label("Hard limit, $")).to_have_value("5")
    page.get_by_label("Soft limit, $").fill("3")
    page.get_by_label("Soft limit, $").press("Enter")
    dial = page.locator(".dial")
    expect(dial).to_contain_text("of $5.00")
    dial.get_by_text("Raise or remove").press("Enter")
    dial.get_by_label("Raise by $").fill("2.50")
    dial.get_by_role("button", name="Raise").press("Enter")
    expect(dial).to_contain_text("of $7.50")
    expect(dial).to_contain_text("Raised by $2.50 until")
    dial.get_by_text("Raise or remove").click()
    dial.get_by_role("button", name="Remove the cap").click()
    expect(page.get_by_text("Nothing is capped yet")).to_be_visible()
    assert [text for text in eva.complaints if "422" not in text] == []


def test_a_task_that_cannot_be_paid_for_stays_in_its_form_with_the_reason(
    eva: Visitor, server: RunningServer, clean: Callable[[], None]
) -> None:
    wish = CapWish(CapScope.INSTANCE, Period.LIFETIME, Decimal("0.5"))
    server.do(lambda: server.appliance.caps.set(wish))
    spend_as_team(server, "1000")
    eva.open("/")
    eva.page.get_by_label("Task", exact=True).fill("Count the gulls.")
    eva.page.get_by_role("button", name="Start").click()
    expect(eva.page.get_by_role("alert")).to_contain_text("The cap of $0.50 in all for this instance is used up")
    expect(eva.page.get_by_label("Task", exact=True)).to_have_value("Count the gulls.")
    clean()


def test_a_task_started_from_the_pages_is_paid_by_the_person_and_the_team(
    eva: Visitor, server: RunningServer, clean: Callable[[], None]
) -> None:
    eva.page.get_by_label("Task", exact=True).fill("Count the terns.")
    eva.page.get_by_role("button", name="Start").click()
    eva.page.wait_for_url("**/sessions/*")
    (run,) = server.do(lambda: server.appliance.sessions.list_runs(UUID(eva.page.url.rsplit("/", 1)[1])))

    async def read(transaction: Transaction) -> UUID:
        user = await find_user(transaction, EMAIL)
        assert user is not None
        return user.id

    assert run.payer == Payer(first_team(server), server.write(read))


@pytest.mark.parametrize("look", LOOKS)
def test_gauges_fit_their_page_in_every_look(
    browser: Browser, server: RunningServer, cookies: list[object], clean: Callable[[], None], look: str
) -> None:
    team = first_team(server)
    for scope, subject, hard, soft in (
        (CapScope.INSTANCE, None, "2000", "500"),
        (CapScope.TEAM, team, "1", None),
        (CapScope.TEAM, team, None, "90000"),
    ):
        period = Period.LIFETIME if hard else Period.MONTH
        wish = CapWish(scope, period, Decimal(hard) if hard else None, Decimal(soft) if soft else None, subject)
        server.do(lambda wish=wish: server.appliance.caps.set(wish))
    spend_as_team(server, "2")
    with visit(browser, server.url, **LOOKS[look]) as visitor:
        visitor.take_cookies(cookies)
        visitor.open("/budgets")
        expect(visitor.page.locator(".dial-bar.is-bad")).to_be_visible()
        assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visitor.complaints == []
    clean()
