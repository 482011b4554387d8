from decimal import Decimal
from uuid import UUID

import httpx
import pytest

from appliance.events import Charge, Notice, TokenCount
from appliance.words import Purpose, UsageGroup
from tests.web.api.running import RunningServer


def test_what_was_spent_is_told_in_plain_decimals_and_adds_up(server: RunningServer, http: httpx.Client) -> None:
    before = Decimal(http.get("/v3/usage").json()["total"]["costUsd"])
    session = http.post("/v3/sessions", json={"task": "Find the mug", "model": "autopilot"}).json()
    charges = [
        Charge(Purpose.STEP, "claude-opus-4.7", TokenCount(1000, 200, 30, 4), Decimal("0.0000004")),
        Charge(Purpose.STEP, "claude-opus-4.7", TokenCount(1000, 200, 30, 4), Decimal("0.000007")),
        Charge(Purpose.CAPTCHA, "capsolver", cost_usd=Decimal("0.0008")),
    ]
    server.append(UUID(session["id"]), Notice(code="x", text="x"), None, charges)
    for group in UsageGroup:
        told = http.get("/api/v3/usage", params={"groupBy": group}).json()
        assert (told["groupBy"], told["timeZone"]) == (group, "UTC")
        assert sum(Decimal(row["costUsd"]) for row in told["rows"]) == Decimal(told["total"]["costUsd"])
        assert Decimal(told["total"]["costUsd"]) - before == Decimal("0.000807")
        assert "E" not in f"{[row['costUsd'] for row in told['rows']]}"
    by_session = http.get("/v3/usage", params={"groupBy": "session"}).json()
    row = next(row for row in by_session["rows"] if row["key"] == session["id"])
    assert row == {
        "key": session["id"],
        "label": "Find the mug",
        "calls": 3,
        "inputTokens": 2000,
        "cacheReadTokens": 400,
        "cacheWriteTokens": 60,
        "outputTokens": 8,
        "costUsd": "0.000807",
        "servicesUsd": "0.0008",
        "unpricedCalls": 0,
        "estimatedCalls": 0,
    }
    assert http.get(f"/v3/sessions/{session['id']}").json()["totalCostUsd"] == "0.000807"


def test_days_are_named_from_first_to_last(http: httpx.Client) -> None:
    told = http.get("/v3/usage", params={"from": "2026-02-27", "to": "2026-03-01"}).json()
    assert (told["from"], told["to"]) == ("2026-02-27", "2026-03-01")
    assert [row["key"] for row in told["rows"]] == ["2026-02-27", "2026-02-28", "2026-03-01"]


@pytest.mark.parametrize(
    "asked",
    [{"from": "yesterday"}, {"to": "2026-02-30"}, {"from": "2026-03-02", "to": "2026-03-01"}, {"groupBy": "colour"}],
)
def test_what_cannot_be_told_is_refused_naming_the_field(http: httpx.Client, asked: dict[str, str]) -> None:
    refused = http.get("/v3/usage", params=asked)
    assert refused.status_code == 422
    assert any(name in refused.text for name in asked)


def test_without_a_key_nothing_is_told(server: RunningServer) -> None:
    assert httpx.get(f"{server.url}/v3/usage").status_code in (401, 403)
