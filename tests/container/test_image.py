"""The real image, built and booted without a Docker engine. Opt-in: needs root, minutes and gigabytes.

Run with TEST_CONTAINER=1; ops/container says what it needs and which variables it reads.
"""

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ports import find_free_ports

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CONTAINER_DIR", "/var/tmp/pilothouse-container")) / "data"
TOOLS = ("buildah", "podman", "runc", "debootstrap")
SCRIPTED, SILENT = 9911, 9912
"""Ports in the container: of a model server that follows a scenario, and of one that never answers."""
API_KEY = "key-of-the-container-tests"
MODEL_KEY = "sk-ant-of-the-container-tests"
SETTINGS = {
    "API_KEY": API_KEY,
    "ANTHROPIC_API_KEY": MODEL_KEY,
    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{SCRIPTED}",
    "OPENAI_API_KEY": "sk-of-the-container-tests",
    "OPENAI_BASE_URL": f"http://127.0.0.1:{SILENT}/v1",
}
SPY = """
import io, os, socket
reached = {"user": os.getuid(), "environ": [name for name in os.environ if name != "LC_CTYPE"]}
def attempt(what, do):
    try:
        reached[what] = repr(do())
    except OSError as error:
        reached[what] = type(error).__name__
for pid in PIDS:
    attempt(f"environ of {pid}", lambda: io.open(f"/proc/{pid}/environ").read())
    attempt(f"signal to {pid}", lambda: os.kill(pid, 0))
for path in ("/data", "/home/pilothouse"):
    attempt(path, lambda: os.listdir(path))
attempt("database", lambda: io.open("/data/pilothouse.db", "rb").read(10))
attempt("writing", lambda: io.open("/tmp/written", "w"))
attempt("server", lambda: socket.create_connection(("127.0.0.1", 8420)))
attempt("keeper", lambda: socket.socket(socket.AF_UNIX).connect("/run/pilothouse-keeper/socket"))
attempt("program", lambda: os.execv("/bin/true", ["true"]))
save_json("reached.json", reached)
set_field("name", await browser.evaluate("document.querySelector('h1').innerText"))
"""

pytestmark = [
    pytest.mark.skipif("TEST_CONTAINER" not in os.environ, reason="set TEST_CONTAINER=1 to build and boot the image"),
    pytest.mark.skipif(
        os.getuid() != 0 or not all(map(shutil.which, TOOLS)), reason="needs root and " + ", ".join(TOOLS)
    ),
    pytest.mark.timeout(1800),
]


def container(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "ops/container", *arguments], capture_output=True, text=True, check=False)


def in_container(command: str) -> str:
    done = container("exec", "sh", "-c", command)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def booted() -> Iterator[str]:
    """The address of a server in a container that was built from the working tree."""
    built = container("build")
    assert built.returncode == 0, built.stderr[-2000:]
    port = find_free_ports()
    given = [f"--env={name}={value}" for name, value in SETTINGS.items()]
    command = [ROOT / "ops/container", "boot", f"--volume={ROOT}/tests:/opt/checks/tests:ro", *given]
    with subprocess.Popen(command, env=os.environ | {"PORT": str(port)}) as process:
        try:
            yield wait_for_health(f"http://127.0.0.1:{port}", process)
        finally:
            container("stop")
            process.wait(60)


def wait_for_health(address: str, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, "the container ended"
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
                assert answer.read() == b'{"status":"ok"}'
                return address
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server in the container did not become healthy")


def test_the_server_in_the_container_is_healthy(booted: str) -> None:
    assert container("exec", "/opt/pilothouse/ops/healthy").returncode == 0


@contextlib.contextmanager
def model_server(port: int, *steps: Any) -> Iterator[None]:
    """Have the stand-in for a model server answer in the container."""
    start = 'cd /opt/checks && printf %s "$1" >/tmp/$2 && exec python3 -m tests.stand_in --port $2 --scenario /tmp/$2'
    command = [ROOT / "ops/container", "exec", "sh", "-c", start, "sh", json.dumps(steps), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "answers at" in process.stdout.readline()
        yield
        in_container(f"kill {status_of(f'tests.stand_in --port {port}')['Pid']}")


@pytest.fixture
def api(booted: str) -> Iterator[httpx.Client]:
    """A client of the server in the container."""
    headers = {"X-Browser-Use-API-Key": API_KEY}
    with httpx.Client(base_url=f"{booted}/v3", headers=headers, timeout=30, trust_env=False) as client:
        yield client


def create(api: httpx.Client, **body: Any) -> str:
    answer = api.post("/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return f"/sessions/{answer.json()['id']}"


def wait_for(api: httpx.Client, session: str, *statuses: str) -> dict[str, Any]:
    """Return the session once it has one of the states."""
    deadline = time.monotonic() + 240
    found: dict[str, Any] = {}
    while time.monotonic() < deadline:
        found = api.get(session).json()
        if found["status"] in statuses:
            return found
        time.sleep(0.2)
    raise AssertionError(f"still not {' or '.join(statuses)}: {found}")


def status_of(part: str) -> dict[str, str]:
    """What the kernel says of a process with this in its command line."""
    look = f'tr "\\0" " " <"$p/cmdline" | grep -q "{part}" && cat "$p/status" && break'
    said = in_container(f'for p in /proc/[0-9]*; do [ "$p" = /proc/$$ ] || {{ {look}; }}; done 2>/dev/null')
    return {name: value.strip() for name, value in (line.split(":", 1) for line in said.splitlines())}


def eventually_status_of(part: str) -> dict[str, str]:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        with contextlib.suppress(ValueError, AssertionError):
            if status := status_of(part):
                return status
        time.sleep(0.2)
    raise AssertionError(f"no process {part}")


def test_server_and_browser_run_as_an_ordinary_user_without_privileges(api: httpx.Client) -> None:
    with model_server(SILENT, {"__hang__": True}):
        session = create(api, task="Wait.", model="gpt-5.5")
        wait_for(api, session, "running")
        found = [status_of(part) for part in ("pilothouse serve", "supervisord", "Xvfb", "chromium --remote-debugging")]
        api.post(f"{session}/stop", json={})
        wait_for(api, session, "stopped")
    for status in found:
        assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"1000"}
        assert status["Groups"] == ""
        assert int(status["CapPrm"], 16) == int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == "2"


def test_the_keeper_has_only_the_rights_to_change_users_and_to_end_processes(booted: str) -> None:
    status = status_of("sandbox_program.keeper")
    assert int(status["CapBnd"], 16) == int(status["CapEff"], 16) == 0b1110_0000
    assert status["NoNewPrivs"] == "1"


def test_scripts_can_be_run_in_the_container(booted: str) -> None:
    assert "scripts      can be shut in" in container("exec", "pilothouse", "doctor").stdout


def test_a_script_fills_the_answer_and_reaches_nothing_of_the_container(booted: str, api: httpx.Client) -> None:
    pids = [status_of(part)["Pid"] for part in ("tini", "sandbox_program.keeper", "pilothouse serve")]
    ware = "http://127.0.0.1:8420/demo/wares/brass-anchor-lamp"
    script = {"name": "spy.py", "code": f"PIDS = {[int(pid) for pid in pids]}\n{SPY}"}
    steps = [{"navigate": {"url": ware}}, {"run_code_file": script}, {"done": {"text": "Looked.", "success": True}}]
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    with model_server(SCRIPTED, *steps):
        session = create(api, task=f"Record the ware at {ware}", model="claude-opus-4.7", outputSchema=schema)
        found = wait_for(api, session, "idle", "stopped", "timed_out", "error")
    record = api.get(f"{session}/history").text
    assert (found["output"], found["isTaskSuccessful"]) == ({"name": "Brass anchor lamp"}, True), record[-3000:]
    assert "Ran spy.py in" in record
    assert MODEL_KEY not in record
    reached = json.loads((DATA / session.lstrip("/") / "scratchpad/reached.json").read_text())
    assert 60600 <= reached.pop("user") <= 60999
    assert reached.pop("environ") == []
    assert len(reached) == 13
    assert set(reached.values()) == {"PermissionError"}, reached


def test_a_script_s_process_has_no_rights_and_ends_with_its_run(api: httpx.Client) -> None:
    endless = {"run_code_file": {"name": "endless.py", "code": "while True:\n    pass"}}
    with model_server(SCRIPTED, endless):
        session = create(api, task="Take long.", model="claude-opus-4.7")
        status = eventually_status_of("sandbox_program.main")
        api.post(f"{session}/stop", json={})
        wait_for(api, session, "stopped")
    assert int(status["Uid"].split()[0]) >= 60600
    assert int(status["CapPrm"], 16) == int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    in_container(f"test ! -e /proc/{status['Pid']}")


def test_nobody_but_the_server_s_user_is_served_by_the_keeper(booted: str) -> None:
    ask = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/pilothouse-keeper/socket'); print(s.recv(9))"
    )
    for user in ("0", "60600"):
        assert in_container(f'setpriv --reuid {user} --clear-groups python3 -c "{ask}"') == "b''\n"
    assert in_container("stat -c '%U %a' /run/pilothouse-keeper /opt/pilothouse/ops/image/keep").split() == [
        *("root", "755"),
        *("root", "755"),
    ]
    assert in_container("find /opt/pilothouse ! -type l \\( -perm /022 -o ! -user root \\) | head -n 3") == ""


def test_the_profile_allows_what_the_browsers_sandbox_needs_and_no_mounts(booted: str) -> None:
    in_container("unshare -U true")

    assert container("exec", "unshare", "-Um", "true").returncode != 0


def test_a_task_is_done_in_a_sandboxed_browser_in_the_container(booted: str) -> None:
    done = container("exec", "pilothouse", "demo")

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads(done.stdout[done.stdout.index("\n{") :])["wares"]) == 6


def test_a_stop_ends_it_soon(booted: str) -> None:
    begin = time.monotonic()
    container("stop")

    assert time.monotonic() - begin < 20
