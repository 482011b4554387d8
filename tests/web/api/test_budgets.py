"""Caps over HTTP, and what the unmodified client of the cloud is told by one that is used up."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from browser_use_sdk.v3 import APIKeySpendLimitError, BrowserUse

from appliance.persistence.database import Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.prices import set_price
from appliance.persistence.records import Payer
from appliance.persistence.teams import add_team
from tests.appliance.runtime.spending import DOLLAR_A_MILLION, make_run, spend
from tests.web.api.running import RunningServer, run_server
from tests.web.api.test_records import at, recorded
from web.auth import new_key


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    yield from run_server(tmp_path_factory.mktemp("budgets"))


class Team:
    """A team with a key, and money that it spends."""

    def __init__(self, server: RunningServer, name: str, zone: str = "Europe/Berlin") -> None:
        self.server, self.name, self.key = server, name, new_key()

        async def write(transaction: Transaction) -> tuple[UUID, UUID]:
            team = await add_team(transaction, name, zone)
            return team.id, (await add_key(transaction, f"key of {name}", self.key, team_id=team.id)).id

        self.id, self.key_id = server.write(write)

    def client(self) -> httpx.Client:
        return self.server.client(headers={"X-Browser-Use-API-Key": self.key})

    def spend(self, amount: str) -> None:
        async def work() -> None:
            database = self.server.appliance.database
            await spend(database, await make_run(database, Payer(self.id, None, self.key_id)), amount)

        self.server.do(work)


def cap_of(team: Team, **values: Any) -> dict[str, Any]:
    return {"scope": "team", "subjectId": str(team.id), "period": "month", "hardUsd": "1", **values}


def put(http: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    answer = http.put("/v3/budgets", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_clouds_client_is_told_of_a_cap_that_is_used_up_by_its_own_error(
    server: RunningServer, http: httpx.Client
) -> None:
    team = Team(server, "Harbour")
    put(http, cap_of(team))
    team.spend("1.25")
    client = BrowserUse(api_key=team.key, base_url=f"{server.url}/api/v3")
    with pytest.raises(APIKeySpendLimitError) as refused:
        client.sessions.create("Read the tides.", model="autopilot")
    client.close()
    error = refused.value
    assert (error.status_code, error.cap, error.spent) == (402, 1.0, 1.25)
    assert "The cap of $1.00 a month for the team Harbour is used up: $1.25 are spent." in str(error)
    with team.client() as mine:
        detail = mine.post("/v3/sessions", json={"task": "Read."}).json()["detail"]
    assert detail["code"] == "api_key_monthly_spend_limit_reached"
    assert (detail["scope"], detail["period"]) == ("team", "month")
    assert datetime.fromisoformat(detail["resetsAt"]) > datetime.now(UTC)
    assert "pilothouse cap raise" in detail["remedy"]


def test_follow_ups_and_replays_are_refused_too_and_go_on_as_soon_as_the_cap_is_raised_or_removed(
    server: RunningServer, http: httpx.Client
) -> None:
    team = Team(server, "Follow")
    with team.client() as mine:
        session = mine.post("/v3/sessions", json={"model": "autopilot"}).json()
        cap = put(http, cap_of(team))
        team.spend("2")
        follow_up = {"task": "Go on.", "sessionId": session["id"]}
        assert mine.post("/v3/sessions", json=follow_up).status_code == 402
        until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        raised = http.post(f"/v3/budgets/{cap['id']}/raise", json={"amountUsd": 1.5, "until": until}).json()
        assert (raised["limitUsd"], raised["hardUsd"], raised["raiseUsd"]) == ("2.5", "1", "1.5")
        assert mine.post("/v3/sessions", json=follow_up).status_code == 200
        team.spend("2")
        assert mine.post("/v3/sessions", json={"task": "More.", "model": "autopilot"}).status_code == 402
        assert http.delete(f"/v3/budgets/{cap['id']}").status_code == 204
        assert mine.post("/v3/sessions", json={"task": "More.", "model": "autopilot"}).status_code == 200


def test_a_cap_tells_how_it_stands(server: RunningServer, http: httpx.Client) -> None:
    team = Team(server, "Gauge", "Asia/Tokyo")
    made = put(http, cap_of(team, hardUsd=2, softUsd="1.50", period="lifetime"))
    team.spend("0.5")
    (listed,) = [one for one in http.get("/v3/budgets").json()["budgets"] if one["id"] == made["id"]]
    assert (listed["spentUsd"], listed["limitUsd"], listed["share"], listed["isUsedUp"]) == ("0.5", "2", 0.25, False)
    assert (listed["hardUsd"], listed["softUsd"], listed["timeZone"]) == ("2", "1.5", "Asia/Tokyo")
    assert (listed["subjectName"], listed["resetsAt"], listed["forecastUsd"]) == ("Gauge", None, None)
    changed = put(http, cap_of(team, hardUsd=None, softUsd=3, period="lifetime"))
    assert (changed["id"], changed["hardUsd"], changed["limitUsd"]) == (made["id"], None, "3")


def test_a_teams_key_sees_its_own_caps_and_changes_none(server: RunningServer, http: httpx.Client) -> None:
    team, other = Team(server, "Mine"), Team(server, "Theirs")
    own = [
        put(http, cap_of(team))["id"],
        put(http, {"scope": "key", "subjectId": str(team.key_id), "period": "day", "softUsd": 1})["id"],
    ]
    put(http, cap_of(other))
    with team.client() as mine:
        assert [one["id"] for one in mine.get("/v3/budgets").json()["budgets"]] == own
        until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        for answer in (
            mine.put("/v3/budgets", json=cap_of(team, hardUsd=1000)),
            mine.post(f"/v3/budgets/{own[0]}/raise", json={"amountUsd": 5, "until": until}),
            mine.delete(f"/v3/budgets/{own[0]}"),
        ):
            assert answer.status_code == 403
            assert "cannot change caps" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"hardUsd": "NaN"}, "hardUsd"),
        ({"hardUsd": "Infinity"}, "hardUsd"),
        ({"hardUsd": -1}, "hardUsd"),
        ({"hardUsd": 0}, "hardUsd"),
        ({"hardUsd": 1e9}, "hardUsd"),
        ({"hardUsd": "much"}, "hardUsd"),
        ({"hardUsd": "1", "softUsd": "2"}, "softUsd"),
        ({"hardUsd": None}, "hardUsd"),
        ({"period": "year"}, "period"),
        ({"scope": "instance"}, "subjectId"),
        ({"subjectId": None}, "subjectId"),
    ],
)
def test_a_cap_that_cannot_be_is_refused_by_its_field(
    server: RunningServer, http: httpx.Client, values: dict[str, Any], field: str
) -> None:
    team = Team(server, "Wrong")
    answer = http.put("/v3/budgets", json=cap_of(team, **values))
    assert answer.status_code == 422, answer.text
    assert [problem["loc"][-1] for problem in answer.json()["detail"]] == [field]
    with team.client() as mine:
        assert mine.get("/v3/budgets").json() == {"budgets": []}


def test_a_raise_that_cannot_be_is_refused_by_its_field(server: RunningServer, http: httpx.Client) -> None:
    cap = put(http, cap_of(Team(server, "Raise")))
    soon, past = datetime.now(UTC) + timedelta(hours=1), datetime.now(UTC) - timedelta(hours=1)
    for amount, until, field in (
        ("NaN", soon.isoformat(), "amountUsd"),
        (1e9, soon.isoformat(), "amountUsd"),
        (1, past.isoformat(), "until"),
        (1, "9999-12-31T23:59:59-12:00", "until"),
        (1, "2030-01-01T00:00:00", "until"),
    ):
        answer = http.post(f"/v3/budgets/{cap['id']}/raise", json={"amountUsd": amount, "until": until})
        assert answer.status_code == 422, answer.text
        assert [problem["loc"][-1] for problem in answer.json()["detail"]] == [field]


def test_what_is_not_there_is_not_found(http: httpx.Client) -> None:
    nobody = {"scope": "team", "subjectId": str(uuid4()), "period": "day", "hardUsd": 1}
    assert http.put("/v3/budgets", json=nobody).status_code == 404
    assert http.delete(f"/v3/budgets/{uuid4()}").status_code == 404
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert http.post(f"/v3/budgets/{uuid4()}/raise", json={"amountUsd": 1, "until": until}).status_code == 404


def test_a_model_without_a_price_is_refused_under_a_hard_cap_with_the_remedy(tmp_path: Path) -> None:
    settings = {"compatible_base_url": "http://127.0.0.1:9/v1", "compatible_models": ("house-model",)}
    for server in run_server(tmp_path, **settings):
        team = Team(server, "Unpriced")
        with server.client() as http, team.client() as mine:
            put(http, cap_of(team))
            answer = mine.post("/v3/sessions", json={"task": "Read.", "model": "house-model"})
            assert answer.status_code == 422
            (problem,) = answer.json()["detail"]
            assert problem["loc"] == ["body", "model"]
            assert "pilothouse price set house-model" in problem["msg"]
            put(http, cap_of(team, hardUsd=None, softUsd=1))
            assert mine.post("/v3/sessions", json={"task": "Read.", "model": "house-model"}).status_code == 200


def test_amounts_come_back_with_all_their_digits(server: RunningServer, http: httpx.Client) -> None:
    cap = put(http, cap_of(Team(server, "Digits"), hardUsd="123456.123456"))
    assert Decimal(cap["hardUsd"]) == Decimal("123456.123456")


def test_a_replay_is_refused_under_a_cap_that_is_used_up(server: RunningServer, http: httpx.Client) -> None:
    team = Team(server, "Again")
    with team.client() as mine:
        replay = at(recorded(server, mine), "replay")
        put(http, cap_of(team))
        team.spend("2")
        refused = mine.post(replay)
        assert refused.status_code == 402
        assert (refused.json()["detail"]["scope"], refused.json()["detail"]["period"]) == ("team", "month")
        count = mine.get("/v3/sessions").json()["total"]
        assert count == 1, "nothing is left behind"


def test_a_replay_under_a_money_limit_is_refused_a_model_without_a_price(tmp_path: Path) -> None:
    settings = {"compatible_base_url": "http://127.0.0.1:9/v1", "compatible_models": ("house-model",)}
    for server in run_server(tmp_path, **settings):
        with server.client() as http:
            limited, free = recorded(server, http, maxCostUsd=1), recorded(server, http)
            refused = http.post(at(limited, "replay"), json={"model": "house-model"})
            assert refused.status_code == 422, refused.text
            (problem,) = refused.json()["detail"]
            assert problem["loc"] == ["body", "model"]
            assert "maxCostUsd cannot be kept" in problem["msg"]
            assert http.post(at(limited, "replay")).status_code == 200
            assert http.post(at(free, "replay"), json={"model": "house-model"}).status_code == 200
            server.write(lambda transaction: set_price(transaction, DOLLAR_A_MILLION))
            assert http.post(at(limited, "replay"), json={"model": "house-model"}).status_code == 200


def test_a_key_of_a_team_is_not_told_what_all_teams_have_spent_and_the_key_of_the_instance_is(tmp_path: Path) -> None:
    for server in run_server(tmp_path):
        team, other = Team(server, "Mine"), Team(server, "Others")
        with server.client() as http, team.client() as mine:
            put(http, {"scope": "instance", "period": "month", "hardUsd": 1})
            other.spend("1.25")
            body = {"task": "Read.", "model": "autopilot"}
            told = mine.post("/v3/sessions", json=body)
            assert told.status_code == 402
            detail = told.json()["detail"]
            assert (detail["scope"], detail["cap"], detail["spent"]) == ("instance", 1.0, None)
            assert datetime.fromisoformat(detail["resetsAt"]) > datetime.now(UTC)
            assert "The cap of $1.00 a month for this instance is used up. It begins anew" in detail["message"]
            assert "1.25" not in told.text
            detail = http.post("/v3/sessions", json=body).json()["detail"]
            assert (detail["spent"], "$1.25 are spent" in detail["message"]) == (1.25, True)
            client = BrowserUse(api_key=team.key, base_url=f"{server.url}/api/v3", max_retries=0)
            with pytest.raises(APIKeySpendLimitError) as refused:
                client.sessions.create("Read the tides.", model="autopilot")
            client.close()
            assert (refused.value.cap, refused.value.spent) == (1.0, None)
