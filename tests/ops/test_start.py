import os
import re
import socket
import subprocess
from pathlib import Path

import psutil
import pytest

from appliance.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
# Setting up may have to install packages first.
pytestmark = pytest.mark.timeout(600)


def start(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ops/start from `cwd` with these settings only."""
    known = {name.upper() for name in Settings.model_fields}
    environment = {name: value for name, value in os.environ.items() if name not in known} | settings
    return subprocess.run(
        [ROOT / "ops/start", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def processes_with(text: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if text in _environment(process)]


def _environment(process: psutil.Process) -> str:
    try:
        return str(process.environ())
    except psutil.Error:
        return ""


def test_the_demonstration_prints_a_result_ends_well_and_leaves_nothing(tmp_path: Path) -> None:
    done = start("--demo", cwd=tmp_path, TMPDIR=str(tmp_path))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "/live/" in done.stdout
    assert "Brass anchor lamp" in done.stdout
    assert list(tmp_path.glob("pilothouse-demo*")) == []
    assert processes_with(str(tmp_path)) == []
    port = re.search(r"http://127\.0\.0\.1:(\d+)/live/", done.stdout)
    assert port is not None
    assert not Path(f"/tmp/pilothouse-{os.getuid()}-{port[1]}").exists()


def test_a_port_in_use_is_one_clear_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = start(cwd=tmp_path, PORT=str(port), DATA_DIR="here", RUN_DIR=str(tmp_path / "r"))

    assert done.returncode == 1
    assert f"port {port}" in done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--keep"]])
def test_arguments_that_make_no_sense_are_refused(tmp_path: Path, arguments: list[str]) -> None:
    done = start(*arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert arguments[0] in done.stderr


def test_help_says_what_it_does(tmp_path: Path) -> None:
    assert "--demo --keep" in start("--help", cwd=tmp_path).stdout
