import httpx
import pytest

from tests.web.api.running import RunningServer

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "status"), [("/nowhere", 404), ("/sessions/none", 404), ("/demonstration", 405), ("/demo/wares/none", 404)]
)
def test_a_person_at_an_unknown_address_gets_a_page(server: RunningServer, path: str, status: int) -> None:
    answer = httpx.get(server.url + path, headers=BROWSER)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "There is no such page" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/nowhere", {}), ("/v3/nowhere", BROWSER), ("/api/v3/nowhere", BROWSER), ("/api/v2/tasks", BROWSER)],
)
def test_a_program_at_an_unknown_address_gets_json(server: RunningServer, path: str, headers: dict[str, str]) -> None:
    answer = httpx.get(server.url + path, headers=headers)
    assert answer.status_code == 404
    assert set(answer.json()) == {"detail"}
