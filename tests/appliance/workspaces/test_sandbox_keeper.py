"""The keeper, which starts the program for scripts where the server is no root itself."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import MachineFault
from appliance.workspaces.sandbox import Functions, Sandbox
from appliance.workspaces.sandbox_program.keeper import keep, listen
from appliance.workspaces.sandbox_start import ROOT, Keeper

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")

START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from appliance.workspaces.sandbox_program.keeper import main; main(sys.argv[2:])"
)


async def do(name: str, arguments: dict[str, Any]) -> Any:
    return f"did {name}"


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """The socket of a keeper for this user."""
    path = tmp_path / "keeper" / "socket"
    listener = listen(str(path))
    threading.Thread(target=keep, args=(listener, os.geteuid()), daemon=True).start()
    yield path
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_scripts_run_in_a_process_that_the_keeper_started(path: Path) -> None:
    sandbox = Sandbox(Keeper(path))
    outcome = await sandbox.run("a.py", "import os\nprint(await browser.url())\nos.getpid()", Functions({}, do))
    assert (outcome.printed, outcome.error, outcome.lost) == ("did browser.url\n", None, "")
    assert is_there(int(outcome.value or "0"))
    await sandbox.close()
    assert not is_there(int(outcome.value or "0"))


async def test_a_process_that_dies_or_takes_too_long_is_told_of(path: Path) -> None:
    sandbox = Sandbox(Keeper(path))
    outcome = await sandbox.run("a.py", "import os\nos._exit(5)", Functions({}, do))
    assert outcome.lost == "its process ended with code 5"
    sandbox.cell_seconds = 0.5
    outcome = await sandbox.run("a.py", "while True:\n    pass", Functions({}, do))
    assert outcome.lost == "it was not done within 0.5 s"
    assert not sandbox.is_running


async def test_another_user_is_not_served(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    listener = listen(str(path))
    threading.Thread(target=keep, args=(listener, os.geteuid() + 12345), daemon=True).start()
    try:
        with pytest.raises(MachineFault, match=r"did not start|does not answer"):
            await Sandbox(Keeper(path)).run("a.py", "1", Functions({}, do))
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


async def test_a_line_that_says_nothing_is_let_go_of(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(path))
        line.settimeout(60)
        assert line.recv(1) == b""


async def test_without_a_keeper_it_is_said_that_it_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(MachineFault, match="The keeper of the sandbox does not answer"):
        await Sandbox(Keeper(tmp_path / "nothing")).run("a.py", "1", Functions({}, do))


def test_the_keeper_runs_the_server_passes_signals_on_and_ends_with_its_code(tmp_path: Path) -> None:
    command = ["sh", "-c", "trap 'exit 7' TERM; echo up; while :; do sleep 0.1; done"]
    keeper = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", START, str(ROOT), str(tmp_path / "socket"), "root", *command],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert keeper.stdout is not None
    with keeper.stdout:
        assert keeper.stdout.readline() == "up\n"
    keeper.send_signal(signal.SIGTERM)
    assert keeper.wait(30) == 7


def test_the_server_may_open_the_output_anew_and_nothing_else_is_opened_to_others(tmp_path: Path) -> None:
    log = tmp_path / "log"
    look = [
        sys.executable,
        "-c",
        "import os, sys; print(*(oct(os.fstat(number).st_mode & 0o777) for number in (1, 2)))",
    ]
    command = [sys.executable, "-I", "-S", "-c", START, str(ROOT), str(tmp_path / "socket"), "root", *look]
    with log.open("w") as errors:
        log.chmod(0o640)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, text=True, check=True)
    assert done.stdout == "0o622 0o640\n"


def test_without_root_the_server_runs_by_itself(tmp_path: Path) -> None:
    # The interpreter of these tests may lie where another user cannot enter.
    start = START.replace("main(", "__import__('os').setuid(65534); main(")
    command = [sys.executable, "-I", "-S", "-c", start, str(ROOT)]
    done = subprocess.run(
        [*command, str(tmp_path / "socket"), "root", "/bin/echo", "alone"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("alone\n", 0), done.stderr


def test_an_ordinary_user_without_a_keeper_is_told_what_to_do(tmp_path: Path) -> None:
    ask = "import os; os.setuid(65534); print(find_starter())"
    command = [sys.executable, "-c", f"from appliance.workspaces.sandbox_start import find_starter; {ask}"]
    said = [
        subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for environment in ({}, {"PILOTHOUSE_SANDBOX_KEEPER": str(tmp_path / "nothing")})
    ]
    assert "start it as root or in the image" in said[0]
    assert "start it as compose.yaml does" in said[1]
