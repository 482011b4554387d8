"""The command line without a running server: what it prints, and that a failure is one sentence."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PILOTHOUSE = Path(sys.prefix) / "bin" / "pilothouse"


@pytest.fixture
def run(tmp_path):
    """Run a command in a folder of its own; settings are given as keywords."""

    def run(*arguments: str, stdin: str | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "DATA_DIR": str(tmp_path / "data"),
            **settings,
        }
        return subprocess.run(
            [PILOTHOUSE, *arguments],
            env=environment,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def _assert_refused(result, code, *words):
    assert result.returncode == code, result.stderr
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for word in words:
        assert word in result.stderr


def test_help_lists_every_command(run):
    listed = run("--help").stdout
    for name in ("serve", "supervise", "migrate", "run", "demo", "user", "key", "price", "settings", "doctor"):
        assert name in listed


def test_settings_lists_every_setting_and_shows_no_value(run):
    listed = run("settings", API_KEY="bu_secret")
    assert "MAX_CONCURRENT_SESSIONS" in listed.stdout
    assert "bu_secret" not in listed.stdout


def test_the_settings_page_of_the_documentation_is_up_to_date(run):
    assert run("settings", "--check", str(ROOT / "ops/docs/settings.md")).returncode == 0
    _assert_refused(run("settings", "--check", str(ROOT / "README.md")), 1, "--markdown")


def test_migrate_makes_the_database_once(run, tmp_path):
    assert "brought up to date" in run("migrate").stdout
    assert (tmp_path / "data" / "pilothouse.db").is_file()
    assert "is up to date" in run("migrate").stdout


def test_a_key_is_printed_once_and_kept_as_a_hash(run, tmp_path):
    key = run("key", "create", "my laptop").stdout.strip()
    assert key.startswith("ph_")
    assert key.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "data").glob("pilothouse.db*"))


def test_a_user_is_added_once_with_the_password_from_standard_input(run):
    added = run("user", "add", "Ada@Example.org", stdin="a long password\n")
    assert "ada@example.org" in added.stdout
    assert "a long password" not in added.stdout + added.stderr
    _assert_refused(run("user", "add", "ada@example.org", stdin="a long password\n"), 1, "already")
    _assert_refused(run("user", "add", "bo@example.org", stdin="short\n"), 1, "password")


def test_a_setting_that_cannot_be_used_is_one_sentence(run):
    _assert_refused(run("serve", PORT="eighty"), 2, "PORT")
    _assert_refused(run("migrate", API_KEY_FILE="/nowhere/key"), 2, "API_KEY_FILE")
    _assert_refused(run("migrate", DATA_DIR="/proc/nowhere"), 2, "DATA_DIR")


@pytest.mark.parametrize("command", ["serve", "supervise"])
def test_a_port_in_use_is_one_sentence(run, taken_port, command):
    _assert_refused(run(command, PORT=taken_port), 1, f"port {taken_port}", "PORT")


def test_a_host_that_is_none_of_ours_is_one_sentence(run):
    _assert_refused(run("serve", HOST="192.0.2.1"), 1, "192.0.2.1")
    _assert_refused(run("serve", HOST="no.such.host.invalid"), 1, "no.such.host.invalid")


def test_run_without_a_server_says_how_to_start_one(run):
    _assert_refused(run("run", "anything", PORT="1", API_KEY="k"), 1, "ops/start")


def test_run_with_a_schema_that_is_none_says_so(run, tmp_path):
    (tmp_path / "schema.json").write_text("[1]")
    _assert_refused(run("run", "anything", "--schema", "schema.json", API_KEY="k"), 1, "schema.json")
    _assert_refused(run("run", "anything", "--schema", "missing.json", API_KEY="k"), 1, "missing.json")


def test_misuse_is_told_with_exit_code_2(run):
    assert run("run").returncode == 2
    assert run("no-such-command").returncode == 2


def test_doctor_tells_each_thing_in_a_line_with_the_remedy(run, taken_port, tmp_path):
    report = run("doctor", PORT=taken_port, CHROMIUM_PATH="/nowhere/chromium")
    assert report.returncode == 1
    lines = {line[6:18].strip(): line for line in report.stdout.splitlines()}
    assert lines["Chromium"].startswith("FAIL")
    assert "CHROMIUM_PATH" in lines["Chromium"]
    assert lines["PORT"].startswith("FAIL")
    assert lines["Xvfb"].startswith("ok")
    assert str(tmp_path / "data") in lines["DATA_DIR"]
    assert "autopilot" in lines["models"]


def test_doctor_misses_the_programs_of_the_system(run, tmp_path):
    report = run("doctor", PATH=str(tmp_path))
    assert "apt-get install xvfb" in report.stdout
    assert "apt-get install x11vnc" in report.stdout


def test_prices_are_set_listed_and_removed(run):
    house = {"COMPATIBLE_BASE_URL": "http://127.0.0.1:9/v1", "COMPATIBLE_MODELS": "house-model"}
    assert "No price is set" in run("price", "list").stdout
    amounts = ("--input", "0.5", "--output", "1.50", "--cache-read", "0.05", "--long", "200000:2")
    assert "from the next step" in run("price", "set", "house-model", *amounts, **house).stdout
    listed = run("price", "list").stdout.splitlines()
    assert len(listed) == 2
    assert listed[1].split()[:5] == ["house-model", "0.5", "0.05", "0.5", "1.50"]
    assert listed[1].endswith("times 2 from 200000 prompt tokens")
    assert "by the price list again" in run("price", "remove", "house-model").stdout
    _assert_refused(run("price", "remove", "house-model"), 1, "house-model")


@pytest.mark.parametrize("amount", ["nan", "inf", "-1", "1e9", "two", "", "1e-13"])
def test_what_is_no_price_is_refused(run, amount):
    result = run("price", "set", "claude-opus-4.7", f"--input={amount}", "--output=1")
    _assert_refused(result, 1, "--input", "such as 2.50")


@pytest.mark.parametrize("tier", ["200000", "0:2", "x:2", "200000:nan", "200000:0", "200000:1e9", "9" * 5000 + ":2"])
def test_what_is_no_tier_is_refused(run, tier):
    result = run("price", "set", "claude-opus-4.7", "--input=1", "--output=1", f"--long={tier}")
    _assert_refused(result, 1, "--long")


def test_a_price_for_an_unknown_model_is_refused(run):
    _assert_refused(run("price", "set", "gpt-99", "--input=1", "--output=1"), 1, "gpt-99", "COMPATIBLE_MODELS")
