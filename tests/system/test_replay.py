"""A recorded run done again by a whole appliance, and what can be fetched of a session afterwards."""

from typing import Any

import httpx
import pytest

from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance

SECONDS = 200
"""How long a run may take on a busy machine; it ends within 10 s on an idle one."""


def _http(instance: Instance) -> httpx.Client:
    headers = {"X-Browser-Use-API-Key": API_KEY}
    return httpx.Client(base_url=instance.api_url, headers=headers, trust_env=False, timeout=100)


def _recorded(instance: Instance, stand_in: StandIn, marker: str, **body: Any) -> dict[str, Any]:
    shop = f"http://127.0.0.1:{instance.port}/demo/"
    stand_in.add(
        marker,
        [
            {"navigate": {"url": shop}},
            {"click": {"index": {"text": "Brass anchor lamp"}}},
            {"write_file": {"file_name": "lamp.md", "content": "128.50"}},
            {"done": {"text": "The lamp costs 128.50."}},
        ],
    )
    session = instance.create(task=f"{marker} What does it cost?", model="claude-opus-4.7", **body)
    return instance.wait_for(session, seconds=SECONDS)


@pytest.mark.timeout(3 * SECONDS)
def test_a_run_is_done_again_without_asking_a_model(instance: Instance, stand_in: StandIn):
    first = _recorded(instance, stand_in, "REPLAY-plain")
    assert first["output"] == "The lamp costs 128.50."
    asked = len(stand_in.steps)
    with _http(instance) as http:
        made = http.post(f"/sessions/{first['id']}/replay").json()
        again = instance.wait_for(made, seconds=SECONDS)
        assert (again["isTaskSuccessful"], again["output"]) == (True, "The lamp costs 128.50."), again
        assert len(stand_in.steps) == asked
        assert (again["totalInputTokens"], again["llmCostUsd"]) == (0, "0")
        messages = instance.messages(made)
        assert [message["type"] for message in messages if message["type"] == "browser_action"]
        history = http.get(f"/sessions/{made['id']}/history").json()
        (replayed,) = [entry for entry in history if entry["entry"] == "replayed"]
        assert replayed["completion"] == "complete"
        files = http.get(f"/sessions/{made['id']}/files", params={"includeUrls": True}).json()["files"]
        assert [file["path"] for file in files] == ["scratchpad/lamp.md", "scratchpad/todo.md"]
        assert httpx.get(files[0]["url"], trust_env=False).text == "128.50"
        film = http.get(f"/sessions/{made['id']}/animation", params={"format": "webp"})
        assert (film.status_code, film.headers["content-type"]) == (200, "image/webp")
