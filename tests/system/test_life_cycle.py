"""The life of a session as clients of the cloud's API see it: each state of the table, and what it takes from there."""

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from browser_use_sdk.v3 import BrowserUse, BrowserUseError

from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance, eventually

MODEL = "gpt-5.5"
DONE = [{"done": {"text": "Ready.", "success": True}}]


def _state(client: BrowserUse, instance: Instance, session_id: Any) -> tuple[str, str]:
    """Return the status as the client reads it, and the full word beside it."""
    found = instance.find({"id": str(session_id)})
    return client.sessions.get(str(session_id)).status.value, found["lifecycle"]


def _refused(client: BrowserUse, session_id: Any, status_code: int) -> str:
    """Return what is said to a task that the session does not take."""
    with pytest.raises(BrowserUseError) as refusal:
        client.run("RUN-liferefused One more.", session_id=str(session_id))
    assert refusal.value.status_code == status_code
    return str(refusal.value)


def _begin(instance: Instance, stand_in: StandIn, marker: str, **body: Any) -> dict[str, Any]:
    """Return a session whose run waits for its model."""
    stand_in.add(marker, [{"__hang__": True}])
    session = instance.create(task=f"{marker} Look.", model=MODEL, **body)
    eventually(lambda: any(request.marker == marker for request in stand_in.steps), "the model is asked", 60)
    return session


def test_a_session_without_a_task_is_created_and_takes_one(instance: Instance, stand_in: StandIn, client: BrowserUse):
    stand_in.add("RUN-lifeshell", DONE)
    shell = client.sessions.create(model=MODEL)
    assert _state(client, instance, shell.id) == ("created", "created")
    assert client.run("RUN-lifeshell Begin.", session_id=str(shell.id)).output == "Ready."


def test_an_ordinary_session_stops_by_itself_and_takes_nothing_more(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-lifeordinary", DONE)
    result = client.run("RUN-lifeordinary Do it.", model=MODEL)
    assert _state(client, instance, result.session.id) == ("stopped", "stopped")
    assert "ended" in _refused(client, result.session.id, 409)


def test_a_session_kept_alive_is_idle_with_its_browser_parked(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-lifekept", [{"navigate": {"url": f"http://127.0.0.1:{instance.port}/demo/"}}, *DONE])
    stand_in.add("RUN-lifefollowed", DONE)
    first = client.run("RUN-lifekept Open the shop.", model=MODEL, keep_alive=True)
    eventually(lambda: _state(client, instance, first.session.id) == ("idle", "parked"), "the browser is parked")
    second = client.run("RUN-lifefollowed What is open?", session_id=str(first.session.id))
    assert second.output == "Ready."
    asked = next(request for request in stand_in.steps if request.marker == "RUN-lifefollowed")
    assert "<page_changes>" in asked.text, "the page is as the first task left it, so only what differs is told"
    client.sessions.stop(str(first.session.id))
    assert _state(client, instance, first.session.id) == ("stopped", "stopped")
    assert "ended" in _refused(client, first.session.id, 409)


def test_a_running_session_is_busy_and_stopping_its_task_leaves_it_idle(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    session = instance.wait_for(_begin(instance, stand_in, "RUN-lifebusy"), "running")
    assert _state(client, instance, session["id"]) == ("running", "running")
    assert "busy" in _refused(client, session["id"], 409)
    client.sessions.stop(session["id"], strategy="task")
    assert _state(client, instance, session["id"])[0] == "idle"
    stand_in.add("RUN-lifeafter-stop", DONE)
    assert client.run("RUN-lifeafter-stop Again.", session_id=session["id"]).output == "Ready."


def test_a_session_is_stopped_once_however_often_it_is_said(instance: Instance, stand_in: StandIn, client: BrowserUse):
    session = _begin(instance, stand_in, "RUN-lifetwice", keepAlive=True)
    for _ in range(2):
        assert client.sessions.stop(session["id"]).status.value == "stopped"
    assert "ended" in _refused(client, session["id"], 409)


def test_a_run_out_of_its_own_time_times_the_session_out(instance: Instance, stand_in: StandIn, client: BrowserUse):
    session = _begin(instance, stand_in, "RUN-lifelate", timeout=4)
    ended = instance.wait_for(session, seconds=40)
    assert (ended["status"], ended["lifecycle"], ended["failureKind"]) == ("timed_out", "timed_out", "session_timeout")
    assert "timed_out" in _refused(client, session["id"], 409)


def test_a_failed_run_is_an_error_and_a_conversation_goes_on_after_it(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-lifefailing", [{"__http__": 401}])
    session = instance.wait_for(instance.create(task="RUN-lifefailing Go.", model=MODEL, keepAlive=True), seconds=40)
    assert (session["status"], session["failureKind"], session["failureStatusCode"]) == ("error", "provider_error", 401)
    stand_in.add("RUN-lifemended", DONE)
    assert client.run("RUN-lifemended Go on.", session_id=session["id"]).output == "Ready."
    mended = instance.find(session)
    assert (mended["failureKind"], mended["failureStatusCode"], mended["isTaskSuccessful"]) == (None, None, True)


def test_a_deleted_session_is_gone_also_while_it_runs(instance: Instance, stand_in: StandIn, client: BrowserUse):
    session = _begin(instance, stand_in, "RUN-lifedeleted")
    client.sessions.delete(session["id"])
    _refused(client, session["id"], 404)
    with pytest.raises(BrowserUseError, match="not found"):
        client.sessions.get(session["id"])


def _move_back(instance: Instance, session_id: str, by: timedelta) -> None:
    made = (datetime.now(UTC) - by).strftime("%Y-%m-%d %H:%M:%S.%f")
    with sqlite3.connect(instance.folder / "data" / "pilothouse.db") as database:
        database.execute("update sessions set created_at = ? where id = ?", (made, session_id.replace("-", "")))


def test_after_a_restart_what_was_parked_goes_on_and_what_is_overdue_has_expired(
    provider_settings: dict[str, str], stand_in: StandIn
):
    with Instance(provider_settings) as instance:
        client = BrowserUse(api_key=API_KEY, base_url=instance.api_url)
        stand_in.add("RUN-lifebefore", [{"done": {"text": "The tide turns at six.", "success": True}}])
        stand_in.add("RUN-lifebehind", DONE)
        kept = client.run("RUN-lifebefore When does the tide turn?", model=MODEL, keep_alive=True)
        shell = client.sessions.create(model=MODEL)
        instance.stop()
        _move_back(instance, str(shell.id), timedelta(minutes=16))
        instance.start()
        eventually(lambda: _state(client, instance, shell.id) == ("timed_out", "expired"), "the shell has expired")
        assert "expired" in _refused(client, shell.id, 409)
        assert _state(client, instance, kept.session.id) == ("idle", "idle")
        assert client.run("RUN-lifebehind And now?", session_id=str(kept.session.id)).output == "Ready."
        asked = next(request for request in stand_in.steps if request.marker == "RUN-lifebehind")
        assert "The tide turns at six." in asked.text
        client.close()
