"""The real image, built and booted without a Docker engine. Opt-in: needs root, minutes and gigabytes.

Run with TEST_CONTAINER=1; ops/container says what it needs and which variables it reads.
"""

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("buildah", "podman", "runc", "debootstrap")

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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([ROOT / "ops/container", "boot"], env=os.environ | {"PORT": str(port)}) as process:
        try:
            yield wait_for_health(f"http://127.0.0.1:{port}", process)
        finally:
            container("stop")
            process.wait(60)


def wait_for_health(address: str, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 90
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


def status_of(part: str) -> dict[str, str]:
    """What the kernel says of a process with this in its command line."""
    look = f'tr "\\0" " " <"$p/cmdline" | grep -q "{part}" && cat "$p/status" && break'
    said = in_container(f'for p in /proc/[0-9]*; do [ "$p" = /proc/$$ ] || {{ {look}; }}; done 2>/dev/null')
    return {name: value.strip() for name, value in (line.split(":", 1) for line in said.splitlines())}


def test_server_and_browser_run_as_an_ordinary_user_without_privileges(booted: str) -> None:
    for pattern in ("pilothouse serve", "supervisord"):
        status = status_of(pattern)
        assert set(status["Uid"].split()) == {"1000"}
        assert int(status["CapPrm"], 16) == 0
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == "2"


def test_the_keeper_has_only_the_rights_to_change_users_and_to_end_processes(booted: str) -> None:
    status = status_of("sandbox_program.keeper")
    assert int(status["CapBnd"], 16) == int(status["CapEff"], 16) == 0b1110_0000
    assert status["NoNewPrivs"] == "1"


def test_scripts_can_be_run_in_the_container(booted: str) -> None:
    assert "scripts      can be shut in" in container("exec", "pilothouse", "doctor").stdout


def test_the_profile_allows_what_the_browsers_sandbox_needs_and_no_mounts(booted: str) -> None:
    in_container("unshare -U true")

    assert container("exec", "unshare", "-Um", "true").returncode != 0


def test_a_task_is_done_in_a_sandboxed_browser_in_the_container(booted: str) -> None:
    done = container("exec", "pilothouse", "demo")

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"' in done.stdout


def test_a_stop_ends_it_soon(booted: str) -> None:
    begin = time.monotonic()
    container("stop")

    assert time.monotonic() - begin < 20
