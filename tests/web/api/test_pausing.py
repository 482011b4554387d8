"""Pausing and resuming what does not work: a clear answer each, at both prefixes."""

from uuid import uuid4

import pytest

from appliance.words import SessionStatus
from tests.web.api.running import RunningServer


@pytest.mark.parametrize("prefix", ["/v3", "/api/v3"])
@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_an_unknown_session_is_not_found(server: RunningServer, prefix: str, verb: str) -> None:
    with server.client() as http:
        assert http.post(f"{prefix}/sessions/{uuid4()}/{verb}").status_code == 404


def test_what_does_not_work_cannot_be_paused_and_is_told_why(server: RunningServer) -> None:
    with server.client() as http:
        blank = http.post("/v3/sessions").json()["id"]
        refused = http.post(f"/v3/sessions/{blank}/pause")
        assert refused.status_code == 409
        assert "no task is at work" in refused.text
        waiting = http.post("/v3/sessions", json={"task": "Find it."}).json()
        refused = http.post(f"/v3/sessions/{waiting['id']}/pause")
        assert refused.status_code == 409
        assert "waits for a free slot" in refused.text
        assert http.get(f"/v3/sessions/{waiting['id']}").json()["lifecycle"] == "queued"
        http.post(f"/v3/sessions/{waiting['id']}/stop")
        assert http.post(f"/v3/sessions/{waiting['id']}/pause").status_code == 409


def test_what_is_not_paused_cannot_be_resumed(server: RunningServer) -> None:
    with server.client() as http:
        session = http.post("/v3/sessions").json()
        refused = http.post(f"/v3/sessions/{session['id']}/resume")
        assert refused.status_code == 409
        assert "not paused" in refused.text
        assert http.get(f"/v3/sessions/{session['id']}").json()["status"] == SessionStatus.CREATED


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_deleted_session_is_not_found(server: RunningServer, verb: str) -> None:
    with server.client() as http:
        session = http.post("/v3/sessions").json()["id"]
        http.delete(f"/v3/sessions/{session}")
        assert http.post(f"/v3/sessions/{session}/{verb}").status_code == 404
