"""The page of what was spent, as people see it."""

import csv
import io
from decimal import Decimal
from uuid import UUID

import httpx
import pytest
from playwright.sync_api import expect
from sqlalchemy import delete, update

from appliance.events import Charge, Notice, TokenCount
from appliance.persistence.database import Transaction
from appliance.persistence.tables import ledger, members
from appliance.persistence.teams import add_team, find_first_team
from appliance.persistence.users import find_user
from appliance.words import Purpose
from tests.web.api.running import RunningServer
from tests.web.browsing import EMAIL, Visitor
from tests.web.feeding import FedSession, feed_session


@pytest.fixture(scope="module")
def spent(server: RunningServer) -> FedSession:
    """The only session that paid for anything; its title is what no spreadsheet may take for a formula."""

    async def forget(transaction: Transaction) -> None:
        await transaction.execute(delete(ledger))

    server.write(forget)
    session = feed_session(server, "=cmd|'/c calc'!A1 lamps")
    charges = [
        Charge(Purpose.STEP, "claude-opus-4.7", TokenCount(120_000, 30_000, 500, 900), Decimal("1.234567")),
        Charge(Purpose.GOAL, "gpt-5.5", TokenCount(700), Decimal("0.02")),
        Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("0.0008")),
        Charge(Purpose.STEP, "own-model", TokenCount(5), None),
    ]
    server.append(session.id, Notice(code="x", text="x"), None, charges)
    return session


def test_the_page_shows_what_was_spent_by_day_and_by_model(eva: Visitor, spent: FedSession) -> None:
    eva.page.get_by_role("link", name="Usage").click()
    expect(eva.page.get_by_role("heading", name="Usage", level=1)).to_be_visible()
    page = eva.page
    assert page.locator("svg.days rect.ground").count() == 30
    assert page.locator("svg.days rect.bar").count() == 1
    models = page.locator(".models li")
    assert "claude-opus-4.7" in models.first.inner_text()
    assert "$1.23" in models.first.inner_text()
    assert "no price" in models.filter(has_text="own-model").inner_text()
    assert "1 of them have no known price" in page.locator(".sum").inner_text()
    assert page.locator("tbody tr").count() == 30
    assert eva.complaints == []


def test_span_and_grouping_are_chosen_by_keyboard_and_stay_together(eva: Visitor, spent: FedSession) -> None:
    eva.open("/usage")
    eva.page.get_by_role("link", name="7 days").focus()
    eva.page.keyboard.press("Enter")
    expect(eva.page.locator("svg.days rect.ground")).to_have_count(7)
    eva.page.get_by_role("link", name="Session", exact=True).focus()
    eva.page.keyboard.press("Enter")
    expect(eva.page).to_have_url(f"{eva.url}/usage?days=7&by=session")
    assert eva.page.locator(".choices [aria-current]").all_inner_texts() == ["7 days", "Session"]
    eva.page.get_by_role("link", name="lamps").click()
    expect(eva.page).to_have_url(f"{eva.url}{spent.path}")
    for group in ("model", "member", "key", "purpose"):
        assert eva.open(f"/usage?by={group}") == 200
        assert eva.page.locator("tbody tr").count() >= 1
    assert eva.open("/usage?days=nonsense&by=colour") == 200
    assert eva.complaints == []


def test_page_api_and_session_tell_the_same_sum(eva: Visitor, server: RunningServer, spent: FedSession) -> None:
    eva.open("/usage?by=session")
    exact = eva.page.locator("tbody tr", has_text="lamps").locator("td span[title]").first.get_attribute("title")
    with server.client() as client:
        session = client.get(f"/v3/sessions/{spent.id}").json()
        rows = client.get("/v3/usage", params={"groupBy": "session"}).json()["rows"]
    told = next(row["costUsd"] for row in rows if row["key"] == f"{spent.id}")
    assert Decimal(exact or "") == Decimal(told) == Decimal(session["totalCostUsd"]) == Decimal("1.255367")


def test_the_table_can_be_taken_away_as_csv_that_is_no_formula(
    server: RunningServer, cookies: list[dict[str, str]], spent: FedSession
) -> None:
    jar = {cookie["name"]: cookie["value"] for cookie in cookies}
    answer = httpx.get(f"{server.url}/usage.csv", params={"by": "session"}, cookies=jar)
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    row = next(row for row in csv.DictReader(io.StringIO(answer.text)) if row["key"] == f"{spent.id}")
    assert row["label"].startswith("'=cmd")
    assert (row["cost_usd"], row["calls"], row["unpriced_calls"]) == ("1.255367", "4", "1")


def test_who_has_not_signed_in_sees_no_money(server: RunningServer) -> None:
    for path in ("/usage", "/usage.csv"):
        assert httpx.get(server.url + path).status_code == 303


def test_who_is_in_another_team_sees_what_that_team_spent(
    eva: Visitor, server: RunningServer, spent: FedSession
) -> None:
    async def move(transaction: Transaction, team_id: UUID) -> None:
        user = await find_user(transaction, EMAIL)
        assert user is not None
        await transaction.execute(update(members).where(members.c.user_id == user.id).values(team_id=team_id))

    async def enter_other(transaction: Transaction) -> UUID:
        first = await find_first_team(transaction)
        await move(transaction, (await add_team(transaction, "Other")).id)
        return first.id

    first = server.write(enter_other)
    try:
        eva.open("/usage?by=session")
        assert "Nothing was spent" in eva.page.locator("main").inner_text()
    finally:
        server.write(lambda tx: move(tx, first))
    eva.open("/usage?by=session")
    assert "lamps" in eva.page.locator("tbody").inner_text()
