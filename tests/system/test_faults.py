"""What goes wrong under a run: each fault ends it with one clear sentence, and nothing is left running."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest

from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually, name_of


@pytest.fixture
def fragile(provider_settings):
    """An appliance with one slot that the test may damage."""
    with Instance(provider_settings) as instance:
        yield instance


def _start_waiting_run(instance: Instance, stand_in: StandIn, marker: str, **body):
    """Return a session whose run has a browser and waits for its model."""
    stand_in.add(marker, [{"navigate": {"url": f"http://127.0.0.1:{instance.port}/demo/"}}, {"__hang__": True}])
    session = instance.create(task=f"{marker} Look at the shop.", model="gpt-5.5", **body)
    eventually(
        lambda: any(request.marker == marker and request.number == 1 for request in stand_in.requests),
        "the model was asked a second time",
        60,
    )
    return session


def _browsers(instance: Instance) -> list:
    return [process for process in instance.processes() if "chromium" in name_of(process)]


def _assert_slot_is_free(instance: Instance, stand_in: StandIn) -> None:
    eventually(lambda: not _browsers(instance), "no browser is left")
    stand_in.add("RUN-after", [{"done": {"text": "Fine."}}])
    session = instance.wait_for(instance.create(task="RUN-after Say something.", model="gpt-5.5"))
    assert (session["status"], session["output"]) == ("stopped", "Fine.")


def test_a_killed_chromium_ends_the_run_with_one_sentence(fragile: Instance, stand_in: StandIn):
    session = _start_waiting_run(fragile, stand_in, "RUN-killedchromium")
    fragile.find_process("--user-data-dir").kill()
    ended = fragile.wait_for(session, seconds=10)
    assert (ended["status"], ended["failureKind"], ended["output"]) == ("error", "agent_failure", None)
    assert ended["isTaskSuccessful"] is False
    assert "Chromium ended" in ended["lastStepSummary"]
    _assert_slot_is_free(fragile, stand_in)


def test_a_killed_display_ends_the_run_with_one_sentence(fragile: Instance, stand_in: StandIn):
    session = _start_waiting_run(fragile, stand_in, "RUN-killedxvfb")
    fragile.find_process("Xvfb").kill()
    ended = fragile.wait_for(session, seconds=10)
    assert (ended["status"], ended["failureKind"]) == ("error", "agent_failure")
    assert "display" in ended["lastStepSummary"]
    _assert_slot_is_free(fragile, stand_in)


def test_a_killed_server_comes_back_without_the_runs_it_had(fragile: Instance, stand_in: StandIn):
    session = _start_waiting_run(fragile, stand_in, "RUN-killedserver")
    stand_in.add("RUN-waiting", [{"done": {"text": "It was my turn."}}])
    waiting = fragile.create(task="RUN-waiting Wait for your turn.", model="gpt-5.5")
    server = fragile.server
    orphans = _browsers(fragile)
    assert orphans
    server.kill()
    eventually(lambda: not any(process.is_running() for process in orphans), "orphaned browsers are ended")
    eventually(fragile.is_ready, "the server is back")
    ended = fragile.wait_for(session)
    assert (ended["status"], ended["failureKind"]) == ("error", None)
    assert "server" in ended["lastStepSummary"]
    assert ended["stepCount"] == 1
    assert any("server" in (message["summary"] or "") for message in fragile.messages(session)[-1:])
    assert fragile.wait_for(waiting)["output"] == "It was my turn."


def test_a_supervisor_that_is_killed_takes_everything_with_it_but_a_start_clears_the_rest(
    provider_settings, stand_in: StandIn
):
    with Instance(provider_settings) as instance:
        session = _start_waiting_run(instance, stand_in, "RUN-killedall")
        assert instance.process is not None
        for process in [instance.process, instance.server]:
            process.kill()
        instance.process.wait(5)
        eventually(
            lambda: not any("Xvfb" in name_of(process) for process in instance.processes()), "no display is left"
        )
        instance.start()
        assert instance.find(session)["status"] == "error"
        assert not _browsers(instance)


@pytest.mark.parametrize(("strategy", "status"), [("task", "idle"), ("session", "stopped")])
def test_a_stop_ends_a_run_at_once(instance: Instance, stand_in: StandIn, strategy: str, status: str):
    session = _start_waiting_run(instance, stand_in, f"RUN-stop{strategy}")
    began = time.monotonic()
    answer = instance.http.post(f"/v3/sessions/{session['id']}/stop", json={"strategy": strategy}).json()
    assert time.monotonic() - began < 2
    assert answer["status"] == status
    assert answer["output"] is None
    assert answer["stepCount"] == 1
    assert "estimate for 1 call(s)" in answer["lastStepSummary"]
    eventually(lambda: not _browsers(instance), "the browser is gone")


def test_a_stopped_run_hands_over_what_it_had_saved(instance: Instance, stand_in: StandIn):
    saved = {"checkpoint": {"file_name": "titles.json", "value": ["One"], "partial": True}}
    stand_in.add("RUN-partial", [saved, {"__hang__": True}])
    session = instance.create(task="RUN-partial Collect titles.", model="gpt-5.5")
    eventually(lambda: len([one for one in stand_in.steps if one.marker == "RUN-partial"]) > 1, "it hangs", 60)
    answer = instance.http.post(f"/v3/sessions/{session['id']}/stop").json()
    assert (answer["status"], answer["output"], answer["isTaskSuccessful"]) == ("stopped", ["One"], False)


@pytest.mark.parametrize("what", ["killed", "stopped"])
def test_the_record_tells_the_ending_that_the_session_has(instance: Instance, stand_in: StandIn, what: str):
    saved = {"checkpoint": {"file_name": "titles.json", "value": ["One"], "partial": True}}
    stand_in.add(f"RUN-record{what}", [saved, {"wait": {"seconds": 25}}])
    session = instance.create(task=f"RUN-record{what} Collect titles.", model="gpt-5.5")
    eventually(lambda: any("browser_wait" in one["data"] for one in instance.messages(session)), "it waits", 60)
    if what == "killed":
        instance.find_process("--user-data-dir").kill()
    else:
        instance.http.post(f"/v3/sessions/{session['id']}/stop", json={"strategy": "task"})
    ended = instance.wait_for(session)
    history = instance.http.get(f"/v3/sessions/{session['id']}/history").json()
    (closed,) = [entry for entry in history if entry["entry"] == "run_closed"]
    assert closed["ending"] == ("failed" if what == "killed" else "stopped")
    assert closed["summary"] == ended["lastStepSummary"]
    assert closed["output"] == ended["output"] == ["One"]
    assert closed.get("failure") == ended["failureKind"]


def test_a_deleted_session_stops_and_is_gone(instance: Instance, stand_in: StandIn):
    session = _start_waiting_run(instance, stand_in, "RUN-deleted")
    assert instance.http.delete(f"/v3/sessions/{session['id']}").status_code == 204
    assert instance.http.get(f"/v3/sessions/{session['id']}").status_code == 404
    eventually(lambda: not _browsers(instance), "the browser is gone")


def test_a_busy_session_takes_no_second_task(instance: Instance, stand_in: StandIn):
    session = _start_waiting_run(instance, stand_in, "RUN-busy", keepAlive=True)
    answer = instance.http.post("/v3/sessions", json={"task": "another", "sessionId": session["id"]})
    assert answer.status_code == 409
    instance.http.post(f"/v3/sessions/{session['id']}/stop")
    answer = instance.http.post("/v3/sessions", json={"task": "another", "sessionId": session["id"]})
    assert answer.status_code == 409
    assert "stopped" in answer.text


def test_two_runs_share_one_slot_one_after_the_other(fragile: Instance, stand_in: StandIn):
    first = _start_waiting_run(fragile, stand_in, "RUN-holder")
    stand_in.add("RUN-next", [{"done": {"text": "Second."}}])
    second = fragile.create(task="RUN-next Go.", model="gpt-5.5")
    third = fragile.create(task="RUN-next Go too.", model="gpt-5.5")
    assert [fragile.find(second)[name] for name in ("status", "queuePosition")] == ["created", 1]
    assert [fragile.find(third)[name] for name in ("status", "queuePosition")] == ["created", 2]
    assert fragile.find(second)["lifecycle"] == "queued"
    fragile.http.post(f"/v3/sessions/{third['id']}/stop")
    assert fragile.find(third)["status"] == "stopped"
    fragile.http.post(f"/v3/sessions/{first['id']}/stop")
    assert fragile.wait_for(second)["output"] == "Second."


def test_a_page_that_never_loads_costs_a_receipt_and_not_the_run(instance: Instance, stand_in: StandIn):
    with _silent_server() as url:
        stand_in.add("RUN-silent", [{"navigate": {"url": url}}, {"done": {"text": "It does not load."}}])
        session = instance.wait_for(instance.create(task="RUN-silent Open it.", model="gpt-5.5"), seconds=40)
        assert session["output"] == "It does not load."


def test_a_run_out_of_time_is_told_as_such(instance: Instance, stand_in: StandIn):
    stand_in.add("RUN-late", [{"__hang__": True}])
    session = instance.wait_for(instance.create(task="RUN-late Think.", model="gpt-5.5", timeout=5), seconds=20)
    assert (session["status"], session["failureKind"]) == ("timed_out", "session_timeout")


def test_a_model_that_answers_nonsense_ends_the_run_with_its_kind(instance: Instance, stand_in: StandIn):
    stand_in.add("RUN-nonsense", ["I would rather talk about the weather."])
    session = instance.wait_for(instance.create(task="RUN-nonsense Do it.", model="gpt-5.5"))
    assert (session["status"], session["failureKind"]) == ("error", "invalid_output")


def test_a_provider_that_refuses_is_told_with_its_status(instance: Instance, stand_in: StandIn):
    stand_in.add("RUN-refused", [{"__http__": 401}])
    session = instance.wait_for(instance.create(task="RUN-refused Do it.", model="gpt-5.5"))
    assert (session["status"], session["failureKind"], session["failureStatusCode"]) == ("error", "provider_error", 401)


def test_a_missing_chromium_is_told_with_the_setting():
    with Instance({"CHROMIUM_PATH": "/nowhere/chromium"}) as instance:
        session = instance.wait_for(instance.create(task="Open http://127.0.0.1:9/", model="autopilot"))
        assert (session["status"], session["failureKind"]) == ("error", "agent_failure")
        assert "CHROMIUM_PATH" in session["lastStepSummary"]


def test_without_a_supervisor_a_run_says_how_to_start_one():
    with Instance(command=("serve",)) as instance:
        session = instance.wait_for(instance.create(task="Open http://127.0.0.1:9/", model="autopilot"))
        assert session["status"] == "error"
        assert "pilothouse supervise" in session["lastStepSummary"]


def test_a_port_in_use_is_one_sentence(instance: Instance):
    for command in ("serve", "supervise"):
        refused = instance.run(command)
        assert refused.returncode == 1
        assert refused.stdout == ""
        assert f"port {instance.port}" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_a_second_server_on_the_same_data_is_refused(instance: Instance):
    refused = instance.run("serve", PORT=str(instance.port + 40))
    assert refused.returncode == 2
    assert "Another server" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_stop_of_the_appliance_settles_what_runs(provider_settings, stand_in: StandIn):
    with Instance(provider_settings) as instance:
        session = _start_waiting_run(instance, stand_in, "RUN-shutdown")
        began = time.monotonic()
        instance.stop()
        assert time.monotonic() - began < 15
        assert instance.processes() == []
        instance.start()
        ended = instance.find(session)
        assert (ended["status"], ended["failureKind"]) == ("error", None)


@contextmanager
def _silent_server() -> Iterator[str]:
    """Give the address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        # The kernel accepts into the backlog; nobody ever takes the connections from there.
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def test_a_viewer_of_the_feed_does_not_hold_up_the_end_and_sees_how_the_run_ended(provider_settings, stand_in: StandIn):
    with Instance(provider_settings) as instance:
        session = _start_waiting_run(instance, stand_in, "RUN-viewer")
        seen: list[str] = []
        viewer = threading.Thread(target=_read_feed, args=(instance, session, seen))
        viewer.start()
        eventually(lambda: seen, "the viewer sees the feed")
        instance.stop()
        viewer.join(5)
        assert not viewer.is_alive()
        assert "The server was stopped" in "\n".join(seen)
        assert "Traceback" not in instance.log


def _read_feed(instance: Instance, session: dict[str, Any], seen: list[str]) -> None:
    address = f"http://127.0.0.1:{instance.port}/v3/sessions/{session['id']}/events"
    with (
        suppress(httpx.HTTPError),
        httpx.stream("GET", address, headers=dict(instance.http.headers), timeout=None, trust_env=False) as answer,
    ):
        for line in answer.iter_lines():
            seen.append(line)  # noqa: PERF402  (seen as it comes)
