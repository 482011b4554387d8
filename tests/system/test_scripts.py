"""Scripts of the model's in a whole appliance: what they cannot reach, and whom they cannot hold up."""

import json
import os
from contextlib import suppress

import psutil
import pytest

from appliance.workspaces.sandbox_program.users import FIRST_UID, LAST_UID
from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance, eventually

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")

SPY = """
import io, os, socket
reached = {}
def attempt(what, do):
    try:
        reached[what] = repr(do())
    except (OSError, ImportError) as error:
        reached[what] = type(error).__name__
attempt("environ", lambda: dict(os.environ))
for pid in PIDS:
    attempt(f"environ of {pid}", lambda: io.open(f"/proc/{pid}/environ").read())
    attempt(f"memory of {pid}", lambda: io.open(f"/proc/{pid}/mem", "rb").read(10))
    attempt(f"signal to {pid}", lambda: os.kill(pid, 0))
for path in PATHS:
    attempt(path, lambda: os.listdir(path) if not os.path.splitext(path)[1] else io.open(path, "rb").read(100))
for port in PORTS:
    attempt(f"port {port}", lambda: socket.create_connection(("127.0.0.1", port)))
for path in SOCKETS:
    attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path))
print("\\n".join(f"{what}: {how}" for what, how in reached.items()))
"""


def stand_in_port(stand_in: StandIn) -> int:
    return int(stand_in.anthropic_url.rpartition(":")[2].partition("/")[0])


def scripts_of(instance: Instance) -> list[psutil.Process]:
    """The processes of scripts that the instance's server has started."""
    found: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        for child in instance.server.children():
            with suppress(psutil.NoSuchProcess):
                if FIRST_UID <= child.uids().real <= LAST_UID:
                    found.append(child)
    return found


def running_script(instance: Instance, stand_in: StandIn, marker: str) -> psutil.Process:
    """Return the process of the script that a task with this marker runs."""
    eventually(lambda: any(asked.marker == marker for asked in stand_in.steps), "the model is asked")
    return eventually(lambda: scripts_of(instance), "a script runs")[0]


def test_a_script_reaches_nothing_of_the_appliance(instance: Instance, stand_in: StandIn) -> None:
    data, run = instance.folder / "data", instance.folder / "run"
    sockets = [str(path) for path in run.rglob("*") if path.is_socket()]
    facts = {
        "PIDS": [instance.server.pid, os.getpid(), 1],
        "PATHS": [str(data), str(data / "pilothouse.db"), str(data / "secret.key"), str(run), "/proc", "/root"],
        "PORTS": [instance.port, instance.port + 3, stand_in_port(stand_in)],
        "SOCKETS": sockets,
    }
    code = "\n".join(f"{name} = {value!r}" for name, value in facts.items()) + SPY
    stand_in.add("RUN-spy", [{"run_code_file": {"name": "spy.py", "code": code}}, {"done": {"text": "Looked."}}])
    session = instance.create(task="RUN-spy Look around.", model="claude-opus-4.7")
    assert instance.wait_for(session)["isTaskSuccessful"]

    asked = [request for request in stand_in.steps if request.marker == "RUN-spy"]
    kept = (data / "sessions" / session["id"] / "scratchpad").glob("spy_printed*.txt")
    text = "\n".join([asked[1].text, *(path.read_text() for path in kept)])
    assert "environ: {'LC_CTYPE': 'C.UTF-8'}" in text
    for what in (*map(str, facts["PATHS"]), *(f"port {port}" for port in facts["PORTS"]), *sockets):
        assert f"{what}: PermissionError" in text, text
    for pid in facts["PIDS"]:
        for kind in ("environ of", "memory of", "signal to"):
            assert f"{kind} {pid}: PermissionError" in text, text
    for secret in (API_KEY, "sk-ant-secret-of-the-tests", "sk-secret-of-the-tests"):
        assert secret not in json.dumps([request.body for request in asked])


@pytest.mark.parametrize("code", ["import time\ntime.sleep(600)", "while True:\n    pass"], ids=["asleep", "busy"])
def test_a_script_holds_up_nobody_and_ends_with_its_run(instance: Instance, stand_in: StandIn, code: str) -> None:
    marker = f"RUN-{'sleep' if 'sleep' in code else 'busy'}"
    stand_in.add(marker, [{"run_code_file": {"name": "long.py", "code": code}}])
    eventually(lambda: not scripts_of(instance), "earlier scripts have ended")
    session = instance.create(task=f"{marker} Take long.", model="claude-opus-4.7")
    script = running_script(instance, stand_in, marker)
    for _ in range(20):
        assert instance.http.get("/health").json() == {"status": "ok"}
    assert script.is_running()

    assert instance.http.post(f"/v3/sessions/{session['id']}/stop", json={}).status_code == 200
    instance.wait_for(session, "stopped")
    eventually(lambda: not script.is_running(), "the script has ended with its run")


def test_doctor_says_whether_scripts_are_run_and_why_not(instance: Instance) -> None:
    assert "scripts      can be shut in" in instance.run("doctor").stdout
    said = instance.run("doctor", SANDBOX="off").stdout
    assert "scripts      not run here. The agent has no run_code_file. Scripts are switched off by SANDBOX." in said
