import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from appliance.errors import TooManyRequests
from appliance.persistence.keys import add_key, revoke_key
from tests.web.api.running import KEY, RunningServer, run_server
from web.auth import KeyThrottle


def from_address(server: RunningServer, address: str, **values: object) -> httpx.Client:
    """Return a client without a key that calls from another loopback address, so that tests do not brake each other."""
    return server.client(headers={}, transport=httpx.HTTPTransport(local_address=address), **values)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Browser-Use-API-Key": KEY},
        {"x-browser-use-api-key": KEY},
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer  {KEY}"},
    ],
)
def test_the_key_is_taken_from_either_header(server: RunningServer, headers: dict[str, str]) -> None:
    with server.client(headers=headers) as http:
        assert http.get("/v3/sessions").status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": f"Basic {KEY}"}, {"Authorization": "Bearer"}])
def test_a_missing_key_is_401_in_json_and_never_asks_for_a_password(
    server: RunningServer, headers: dict[str, str]
) -> None:
    with from_address(server, "127.0.0.11") as http:
        for method, path in (("GET", "/v3/sessions"), ("POST", "/api/v3/sessions"), ("GET", "/v3/sessions/x")):
            answer = http.request(method, path, headers=headers, content=b"{bad" if method == "POST" else None)
            if path.endswith("/x"):
                assert answer.status_code == 404
                continue
            assert answer.status_code == 401
            assert "X-Browser-Use-API-Key" in answer.json()["detail"]
            assert "www-authenticate" not in answer.headers


def test_a_key_of_the_table_works_until_it_is_revoked(server: RunningServer) -> None:
    record = server.write(lambda tx: add_key(tx, "n8n", "bu_table_key"))
    with from_address(server, "127.0.0.12") as http:
        headers = {"X-Browser-Use-API-Key": "bu_table_key"}
        assert http.get("/v3/sessions", headers=headers).status_code == 200
        server.write(lambda tx: revoke_key(tx, record.id))
        assert http.get("/v3/sessions", headers=headers).status_code == 401


def test_a_key_that_another_process_revokes_stops_working_at_once(server: RunningServer) -> None:
    server.write(lambda tx: add_key(tx, "lost", "bu_lost_key"))
    with from_address(server, "127.0.0.15") as http:
        headers = {"X-Browser-Use-API-Key": "bu_lost_key"}
        session = http.post("/v3/sessions", headers=headers).json()
        path = f"/v3/sessions/{session['id']}"
        assert [http.get(path, headers=headers).status_code for _ in range(3)] == [200, 200, 200]
        other = sqlite3.connect(server.settings.data_dir / "pilothouse.db", isolation_level=None)
        other.execute("UPDATE api_keys SET revoked_at = created_at WHERE name = 'lost'")
        other.close()
        assert http.get(path, headers=headers).status_code == 401


def test_an_address_that_guesses_has_to_wait_and_who_has_a_key_does_not(server: RunningServer) -> None:
    with from_address(server, "127.0.0.13") as http:
        for number in range(5):
            answer = http.get("/v3/sessions", headers={"X-Browser-Use-API-Key": f"guess {number}"})
            assert answer.status_code == 401
        answer = http.get("/v3/sessions", headers={"X-Browser-Use-API-Key": "guess 6"})
        assert answer.status_code == 429
        assert int(answer.headers["Retry-After"]) >= 1
        assert "try again in" in answer.json()["detail"]
        assert http.get("/v3/sessions", headers={"X-Browser-Use-API-Key": KEY}).status_code == 200
    with from_address(server, "127.0.0.14") as http:
        assert http.get("/v3/sessions", headers={"X-Browser-Use-API-Key": KEY}).status_code == 200


def test_the_wait_doubles_up_to_a_minute_and_is_forgotten_after_quiet() -> None:
    now = [0.0]
    throttle = KeyThrottle(clock=lambda: now[0])
    waits: list[int] = []
    for _ in range(14):
        throttle.note_failure("10.0.0.1")
        try:
            throttle.check("10.0.0.1")
        except TooManyRequests as error:
            waits.append(error.retry_after)
            now[0] += error.retry_after
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    throttle.check("10.0.0.1")
    throttle.note_success("10.0.0.1")
    throttle.note_failure("10.0.0.1")
    throttle.check("10.0.0.1")


def test_guessers_do_not_fill_the_memory() -> None:
    now = [0.0]
    throttle = KeyThrottle(clock=lambda: now[0])
    for number in range(20_000):
        throttle.note_failure(f"10.0.{number // 256}.{number % 256}")
    assert len(throttle._failures) <= 10_000
    now[0] = 1000.0
    throttle.note_failure("10.9.9.9")
    assert len(throttle._failures) == 1


@pytest.fixture
def open_server(tmp_path: Path) -> Iterator[RunningServer]:
    yield from run_server(tmp_path, allow_insecure_no_auth=True)


def test_no_key_is_needed_where_the_owner_says_so(open_server: RunningServer) -> None:
    with from_address(open_server, "127.0.0.1") as http:
        assert http.get("/v3/sessions").status_code == 200
