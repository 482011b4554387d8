"""What the unmodified client of the cloud is told of its account."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from browser_use_sdk.v3 import BrowserUse

from tests.web.api.running import KEY, RunningServer, run_server
from tests.web.api.test_budgets import Team, cap_of, put


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    yield from run_server(tmp_path_factory.mktemp("billing"), max_concurrent_sessions=3)


def test_the_account_of_a_team_tells_what_its_tightest_cap_leaves_and_the_slots(
    server: RunningServer, http: httpx.Client
) -> None:
    team = Team(server, "Harbour")
    client = BrowserUse(api_key=team.key, base_url=f"{server.url}/api/v3")
    before = client.billing.account()
    assert (before.total_credits_balance_usd, before.plan_info.plan_name) == (0, "self-hosted")
    assert (before.project_id, before.api_key_id, before.name) == (team.id, team.key_id, "Harbour")
    assert (before.concurrent_session_limit, before.active_session_count) == (3, 0)

    put(http, cap_of(team, hardUsd="10"))
    tight = put(http, cap_of(team, hardUsd="2", period="day"))
    team.spend("1.25")
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert http.post(f"/v3/budgets/{tight['id']}/raise", json={"amountUsd": "0.5", "until": until}).status_code == 200
    session = client.sessions.create("Read the tides.", model="autopilot")
    server.begin(session.id)
    now = client.billing.account()
    balances = (now.total_credits_balance_usd, now.monthly_credits_balance_usd, now.additional_credits_balance_usd)
    assert balances == (1.25, 0.75, 0.5)
    assert now.active_session_count == 1
    server.finish(session.id)
    client.close()


def test_the_bootstrap_key_is_told_of_the_first_team(server: RunningServer) -> None:
    client = BrowserUse(api_key=KEY, base_url=f"{server.url}/api/v3")
    account = client.billing.account()
    assert (account.name, account.api_key_id, account.active_session_count) == ("Home", None, 0)
    client.close()
