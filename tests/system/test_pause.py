"""Runs that are paused and conversations that go on, with a whole appliance."""

import time
from typing import Any

import pytest

from tests.stand_in import Received, StandIn
from tests.system.instance import Instance, eventually

SECONDS = 200
DONE = {"done": {"text": "It is done.", "success": True}}
NOTE = {"write_file": {"file_name": "notes.md", "content": "a"}}


def _asked(stand_in: StandIn, marker: str) -> list[Received]:
    return [request for request in stand_in.steps if request.marker == marker]


def _post(instance: Instance, path: str) -> dict[str, Any]:
    answer = instance.http.post(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.timeout(3 * SECONDS)
def test_a_paused_run_asks_nothing_until_it_is_resumed_and_can_be_stopped(instance: Instance, stand_in: StandIn):
    stand_in.add("PAUSE-one", [{"reply": NOTE, "__delay__": 2}, NOTE, DONE])
    made = instance.create(task="PAUSE-one Go.", model="claude-opus-4.7")
    session = made["id"]
    eventually(lambda: _asked(stand_in, "PAUSE-one"), "the first request", SECONDS)
    for prefix in ("/v3", "/api/v3"):
        paused = _post(instance, f"{prefix}/sessions/{session}/pause")
        assert (paused["status"], paused["lifecycle"]) == ("running", "paused")
    time.sleep(3)  # longer than the reply takes, and nothing may follow it
    assert len(_asked(stand_in, "PAUSE-one")) == 1
    assert instance.http.get(f"/v3/sessions/{session}").json()["lifecycle"] == "paused"
    resumed = _post(instance, f"/v3/sessions/{session}/resume")
    assert (resumed["status"], resumed["lifecycle"]) == ("running", "running")
    assert instance.http.post(f"/v3/sessions/{session}/resume").status_code == 409
    ended = instance.wait_for(made, seconds=SECONDS)
    assert (ended["output"], ended["lifecycle"]) == ("It is done.", "stopped")
    assert instance.http.post(f"/v3/sessions/{session}/pause").status_code == 409
    told = [message["summary"] for message in instance.messages(made)]
    assert (told.count("The run is paused."), told.count("The run goes on.")) == (1, 1)

    stand_in.add("PAUSE-two", [{"reply": NOTE, "__delay__": 2}, NOTE, DONE])
    session = instance.create(task="PAUSE-two Go.", model="claude-opus-4.7")["id"]
    eventually(lambda: _asked(stand_in, "PAUSE-two"), "the first request", SECONDS)
    _post(instance, f"/v3/sessions/{session}/pause")
    stopped = _post(instance, f"/v3/sessions/{session}/stop")
    assert (stopped["status"], stopped["lifecycle"]) == ("stopped", "stopped")


@pytest.mark.timeout(3 * SECONDS)
def test_a_pause_is_answered_while_the_model_still_owes_its_answer(instance: Instance, stand_in: StandIn):
    stand_in.add("PAUSE-owed", [{"__hang__": True}])
    session = instance.create(task="PAUSE-owed Go.", model="claude-opus-4.7")["id"]
    eventually(lambda: _asked(stand_in, "PAUSE-owed"), "the first request", SECONDS)
    paused = _post(instance, f"/v3/sessions/{session}/pause")
    assert (paused["status"], paused["lifecycle"]) == ("running", "paused")
    told = {message["summary"]: message["type"] for message in instance.messages({"id": session})}
    assert "The run is paused." in told
    assert "browser_action" not in told.values(), "no answer of the model has come"
    assert _post(instance, f"/v3/sessions/{session}/resume")["lifecycle"] == "running"
    assert _post(instance, f"/v3/sessions/{session}/stop")["status"] == "stopped"


@pytest.mark.timeout(3 * SECONDS)
def test_a_follow_up_of_a_live_session_begins_with_what_was_said_before(instance: Instance, stand_in: StandIn):
    shop = f"http://127.0.0.1:{instance.port}/demo/"
    stand_in.add("TALK-first", [{"navigate": {"url": shop}}, {"remember": {"key": "shop", "value": "Chandlery"}}, DONE])
    stand_in.add("TALK-second", [{"recall": {"key": "shop"}}, {"done": {"text": "Chandlery", "success": True}}])
    made = instance.create(task="TALK-first Look.", model="claude-opus-4.7", keepAlive=True)
    session = made["id"]
    first = instance.wait_for(made, seconds=SECONDS)
    assert (first["status"], first["lifecycle"]) == ("idle", "parked")
    instance.create(task="TALK-second Which shop?", sessionId=session)
    second = instance.wait_for(made, seconds=SECONDS)
    assert second["output"] == "Chandlery"
    before, now = _asked(stand_in, "TALK-first")[-1].text, _asked(stand_in, "TALK-second")[0].text
    same = next(place for place, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1])
    assert "<page" in before[:same].replace("<page>, <page_changes>", ""), "the page of before is not sent anew"
    assert now[same:].count("It is done.") >= 1
    assert "as you left them" in now
    _post(instance, f"/v3/sessions/{session}/stop")
