"""A key belongs to a team: what it starts is the team's, and another team's sessions are as good as absent."""

from uuid import UUID

import httpx
import pytest

from appliance.persistence.database import Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.records import Payer
from appliance.persistence.teams import add_team
from tests.web.api.running import RunningServer
from web.auth import new_key


def make_team(server: RunningServer, name: str) -> tuple[UUID, UUID, httpx.Client]:
    """Return the team, its key and a client that uses it."""
    key = new_key()

    async def write(transaction: Transaction) -> tuple[UUID, UUID]:
        team = await add_team(transaction, name)
        return team.id, (await add_key(transaction, f"key of {name}", key, team_id=team.id)).id

    team_id, key_id = server.write(write)
    return team_id, key_id, httpx.Client(base_url=server.url, headers={"X-Browser-Use-API-Key": key}, trust_env=False)


def test_a_run_is_paid_by_the_team_and_key_that_started_it(server: RunningServer) -> None:
    team_id, key_id, client = make_team(server, "Harbour")
    with client:
        session = client.post("/v3/sessions", json={"task": "Read the tides.", "model": "autopilot"}).json()
    (run,) = server.do(lambda: server.appliance.sessions.list_runs(UUID(session["id"])))
    assert run.payer == Payer(team_id, None, key_id)


FOREIGN = (
    ("GET", "", None),
    ("POST", "/stop", None),
    ("DELETE", "", None),
    ("GET", "/messages", None),
    ("GET", "/events", None),
    ("GET", "/history", None),
    ("GET", "/export", None),
    ("GET", "/files", None),
    ("POST", "/replay", {}),
)


@pytest.mark.parametrize(("method", "path", "body"), FOREIGN)
def test_another_teams_session_is_not_found(
    server: RunningServer, method: str, path: str, body: dict[str, str] | None
) -> None:
    *_, owner = make_team(server, "Owner")
    *_, stranger = make_team(server, "Stranger")
    with owner, stranger, server.client() as bootstrap:
        session = owner.post("/v3/sessions", json={"task": "Ours.", "model": "autopilot"}).json()
        refused = stranger.request(method, f"/v3/sessions/{session['id']}{path}", json=body)
        assert (refused.status_code, refused.json()["detail"]) == (404, "Session not found")
        assert bootstrap.get(f"/v3/sessions/{session['id']}").json()["status"] == "created"


def test_a_follow_up_to_another_teams_session_is_not_found(server: RunningServer) -> None:
    *_, owner = make_team(server, "Owner")
    *_, stranger = make_team(server, "Stranger")
    with owner, stranger:
        session = owner.post("/v3/sessions", json={"model": "autopilot"}).json()
        wish = {"task": "Theirs.", "sessionId": session["id"]}
        refused = stranger.post("/v3/sessions", json=wish)
        assert (refused.status_code, refused.json()["detail"]) == (404, "Session not found")
        assert owner.post("/v3/sessions", json=wish).status_code == 200


def test_a_list_has_the_sessions_of_the_keys_team(server: RunningServer) -> None:
    *_, first = make_team(server, "First")
    *_, second = make_team(server, "Second")
    with first, second:
        mine = first.post("/v3/sessions", json={"task": "Mine.", "model": "autopilot"}).json()
        second.post("/v3/sessions", json={"task": "Not mine.", "model": "autopilot"})
        listed = first.get("/v3/sessions").json()
    assert ([one["id"] for one in listed["sessions"]], listed["total"]) == ([mine["id"]], 1)
