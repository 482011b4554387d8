"""The command line against a running appliance."""

import json

import pytest

from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance


@pytest.fixture(scope="module")
def keyless():
    """An appliance as it is on a fresh machine: no provider key, no API key, no private ground allowed."""
    with Instance({"API_KEY": "", "BROWSE_PRIVATE": ""}) as instance:
        yield instance


def test_the_demonstration_runs_on_a_fresh_machine(keyless: Instance):
    shown = keyless.run("demo")
    assert shown.returncode == 0, shown.stderr
    assert f"Watch: http://127.0.0.1:{keyless.port}/live/" in shown.stdout
    answer = json.loads(shown.stdout[shown.stdout.index("\n{") :])
    assert len(answer["wares"]) == 6
    assert (answer["wares"][0]["name"], answer["wares"][0]["price"]) == ("Brass anchor lamp", 128.5)
    assert all(ware["guarantee_years"] is None and "/demo/wares/" in ware["url"] for ware in answer["wares"])


def test_the_key_of_one_call_is_worthless_afterwards(keyless: Instance):
    assert keyless.http.get("/v3/sessions").status_code == 401
    key = keyless.run("key", "create", "test").stdout.strip()
    answer = keyless.http.get("/v3/sessions", headers={"X-Browser-Use-API-Key": key})
    assert answer.status_code == 200


def test_run_prints_the_feed_and_the_answer(instance: Instance, stand_in: StandIn):
    stand_in.add(
        "RUN-cli", [{"navigate": {"url": f"http://127.0.0.1:{instance.port}/demo/"}}, {"done": {"text": "Six wares."}}]
    )
    shown = instance.run("run", "RUN-cli Count the wares.", "--model", "gpt-5.5")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == "Six wares."
    assert any("navigate" in line.lower() or "next" in line.lower() for line in shown.stdout.splitlines())
    assert API_KEY not in shown.stdout + shown.stderr


def test_run_tells_a_refusal_and_a_failure_in_one_sentence(instance: Instance, stand_in: StandIn):
    refused = instance.run("run", "anything", "--model", "gpt-2")
    assert refused.returncode == 1
    assert "claude" in refused.stderr
    stand_in.add("RUN-clifail", [{"__http__": 401}])
    failed = instance.run("run", "RUN-clifail Do it.", "--model", "gpt-5.5")
    assert failed.returncode == 1
    assert "provider_error" in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


def test_a_wrong_key_is_told(instance: Instance):
    refused = instance.run("run", "anything", "--api-key", "wrong")
    assert refused.returncode == 1
    assert "401" in refused.stderr


def test_doctor_sees_the_running_server(instance: Instance):
    report = instance.run("doctor")
    assert f"running at http://127.0.0.1:{instance.port}" in report.stdout
    assert "FAIL" not in report.stdout, report.stdout


def test_what_is_written_is_for_this_user_only(instance: Instance, stand_in: StandIn):
    stand_in.add("RUN-cliwrites", [{"done": {"text": "Written."}}])
    assert instance.run("run", "RUN-cliwrites Write.", "--model", "gpt-5.5").returncode == 0
    written = [path for path in (instance.folder / "data").rglob("*") if not path.is_socket()]
    assert {"pilothouse.db", "logs", "sessions"} <= {path.name for path in written}
    assert [path for path in written if path.stat().st_mode & 0o077] == []


def test_no_secret_is_in_the_log(instance: Instance):
    for secret in (API_KEY, "sk-ant-secret-of-the-tests", "sk-secret-of-the-tests"):
        assert secret not in instance.log
