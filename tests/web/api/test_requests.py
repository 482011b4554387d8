"""What is accepted, warned about and refused, byte by byte."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from appliance.events import Notice
from tests.web.api.running import RunningServer

ABSENT = "01980000-0000-7000-8000-000000000000"


def problem_of(answer: httpx.Response) -> tuple[list[Any], str]:
    """Return place and text of the only wrong field."""
    (problem,) = answer.json()["detail"]
    assert set(problem) == {"loc", "msg", "type"}
    return problem["loc"], problem["msg"]


@pytest.mark.parametrize("content", [b"", b"{}", b"null"])
def test_a_session_needs_no_body(http: httpx.Client, content: bytes) -> None:
    answer = http.post("/v3/sessions", content=content)
    assert (answer.status_code, answer.json()["title"]) == (200, None)


def test_unknown_keys_are_ignored(http: httpx.Client) -> None:
    assert http.post("/v3/sessions", json={"max_magic": 1, "x": {"y": []}}).status_code == 200


@pytest.mark.parametrize("content", [b"{bad", b"\xff\xfe", b'{"task": "\\ud800"}', b"{} trailing"])
def test_malformed_json_is_told_as_such(http: httpx.Client, content: bytes) -> None:
    answer = http.post("/v3/sessions", content=content)
    assert answer.status_code == 400
    assert "JSON" in answer.json()["detail"]


def test_a_body_that_is_nested_without_end_is_refused(http: httpx.Client) -> None:
    for depth, status_code in ((200, 422), (5_000, 400)):
        content = b'{"model": "gpt-99", "outputSchema":' + b'{"not":' * depth + b"{}" + b"}" * depth + b"}"
        assert http.post("/v3/sessions", content=content).status_code == status_code
    deep = b'{"task": "x", "outputSchema":' + b'{"not":' * 400 + b"{}" + b"}" * 400 + b"}"
    assert problem_of(http.post("/v3/sessions", content=deep))[0] == ["body", "outputSchema"]


@pytest.mark.parametrize(
    ("body", "place", "text"),
    [
        ([], ["body"], "expected object"),
        ({"task": 7}, ["body", "task"], "expected str"),
        ({"task": "  "}, ["body", "task"], "empty"),
        ({"sessionId": "nonsense"}, ["body", "sessionId"], "invalid UUID"),
        ({"model": "gpt-99"}, ["body", "model"], "autopilot"),
        ({"thinkingLevel": "extreme"}, ["body", "thinkingLevel"], "disabled, low, medium, high"),
        ({"reasoningEffort": "extreme"}, ["body", "reasoningEffort"], "minimal"),
        ({"maxCostUsd": "abc"}, ["body", "maxCostUsd"], "decimal"),
        ({"maxCostUsd": "NaN"}, ["body", "maxCostUsd"], "US dollars"),
        ({"maxCostUsd": -1}, ["body", "maxCostUsd"], "above 0"),
        ({"maxCostUsd": "1e999999"}, ["body", "maxCostUsd"], "at most"),
        ({"maxCostUsd": "1e-999999"}, ["body", "maxCostUsd"], "12 decimals"),
        ({"maxCostUsd": f"1.{0:033d}1"}, ["body", "maxCostUsd"], "12 decimals"),
        ({"maxCostUsd": "1e-999999999"}, ["body", "maxCostUsd"], "12 decimals"),
        ({"maxCostUsd": True}, ["body", "maxCostUsd"], "expected"),
        ({"maxCostUsd": "1_0,5"}, ["body", "maxCostUsd"], "decimal"),
        ({"maxCostUsd": ""}, ["body", "maxCostUsd"], "decimal"),
        ({"maxSteps": 0}, ["body", "maxSteps"], ">= 1"),
        ({"timeout": 0.5}, ["body", "timeout"], ">= 1"),
        ({"browserScreenWidth": 100, "browserScreenHeight": 800}, ["body", "browserScreenWidth"], ">= 320"),
        ({"browserScreenWidth": 1280}, ["body", "browserScreenHeight"], "together"),
        ({"outputSchema": "object"}, ["body", "outputSchema"], "expected object"),
        ({"outputSchema": {"type": "nonsense"}}, ["body", "outputSchema"], "JSON Schema"),
        ({"outputSchema": {"$ref": "http://127.0.0.1:1/x"}}, ["body", "outputSchema"], "JSON Schema"),
        ({"cacheScript": True}, ["body", "cacheScript"], "leave cacheScript out"),
        ({"codeMode": True}, ["body", "codeMode"], "leave codeMode out"),
        ({"proxyCountryCode": "us"}, ["body", "proxyCountryCode"], "send null"),
        ({"sensitiveData": {"password": "x"}}, ["body", "sensitiveData"], "fewer than 3"),
        ({"sensitiveData": {"password": 1}}, ["body", "sensitiveData"], "expected"),
        ({"sensitiveData": {"good.test/a": {"password": "xyz"}}}, ["body", "sensitiveData"], "more than a host"),
        ({"sensitiveData": {"a_bu_2fa_code": "no seed!"}}, ["body", "sensitiveData"], "authenticator"),
        ({"allowedDomains": ["x.org/path"]}, ["body", "allowedDomains"], "write example.com"),
        ({"allowedDomains": ["*"]}, ["body", "allowedDomains"], "a star may only stand in front"),
        ({"allowedDomains": ["ftp://x.org"]}, ["body", "allowedDomains"], "neither http nor https"),
        ({"allowedDomains": ["x.org"] * 201}, ["body", "allowedDomains"], "more than 200"),
    ],
)
def test_a_wrong_field_is_named_with_its_remedy(http: httpx.Client, body: Any, place: list[str], text: str) -> None:
    answer = http.post("/api/v3/sessions", json=body)
    assert answer.status_code == 422
    location, message = problem_of(answer)
    assert location[: len(place)] == place
    assert text in message


def test_a_session_id_without_a_task_is_refused(http: httpx.Client) -> None:
    created = http.post("/v3/sessions").json()
    location, message = problem_of(http.post("/v3/sessions", json={"sessionId": created["id"]}))
    assert (location, "needs a task" in message) == (["body", "task"], True)


def test_a_task_for_a_session_that_is_none_is_404(http: httpx.Client) -> None:
    answer = http.post("/v3/sessions", json={"sessionId": ABSENT, "task": "x"})
    assert (answer.status_code, answer.json()) == (404, {"detail": "Session not found"})


@pytest.mark.parametrize(("field", "name"), [("profileId", "Profile"), ("workspaceId", "Workspace")])
def test_an_unknown_profile_or_workspace_is_not_found(http: httpx.Client, field: str, name: str) -> None:
    answer = http.post("/v3/sessions", json={field: ABSENT})
    assert (answer.status_code, answer.json()) == (404, {"detail": f"{name} not found"})


def test_fields_that_do_nothing_here_are_accepted_with_a_warning_in_answer_and_feed(http: httpx.Client) -> None:
    inert = {"skills": True, "agentmail": True, "enableScheduledTasks": True, "enableRecording": True}
    created = http.post("/v3/sessions", json={"task": "x", "model": "autopilot", **inert}).json()
    assert {warning["field"] for warning in created["warnings"]} == set(inert)
    assert all(warning["message"] and warning["code"] for warning in created["warnings"])
    messages = http.get(f"/v3/sessions/{created['id']}/messages").json()["messages"]
    assert [message["type"] for message in messages if not message["hidden"]] == ["planning"] * 4 + ["user_message"]


def test_fields_with_nothing_to_do_here_pass_in_silence(http: httpx.Client) -> None:
    quiet = {"skills": False, "agentmail": False, "useOwnKey": True, "autoHeal": True, "cacheScript": False}
    nulls = {"codeMode": None, "proxyCountryCode": None, "sensitiveData": {}, "enableRecording": None, "model": None}
    answer = http.post("/v3/sessions", json={**quiet, **nulls})
    assert (answer.status_code, answer.json()["warnings"]) == (200, [])


def test_script_brackets_are_taken_off_the_task(http: httpx.Client) -> None:
    created = http.post("/v3/sessions", json={"task": "Find @{{red shoes}} in @{{Oslo}}", "model": "autopilot"}).json()
    assert created["title"] == "Find red shoes in Oslo"


def test_a_null_thinking_level_goes_back_to_the_default_and_an_omitted_one_stays(http: httpx.Client) -> None:
    body = {"maxSteps": 7, "timeout": 60, "systemPromptExtension": "Be brief.", "keepAlive": True, "model": "autopilot"}
    created = http.post("/v3/sessions", json=body).json()
    assert (created["maxSteps"], created["timeout"], created["keepAlive"]) == (7, 60, True)
    follow_up = {"sessionId": created["id"], "task": "x", "thinkingLevel": None}
    followed = http.post("/v3/sessions", json=follow_up).json()
    assert (followed["thinkingLevel"], followed["maxSteps"], followed["keepAlive"]) == (None, 7, True)


def test_the_answer_has_what_v3_lacks(http: httpx.Client) -> None:
    created = http.post("/v3/sessions", json={"task": "x", "model": "autopilot"}).json()
    assert (created["model"], created["modelName"]) == ("bu-mini", "autopilot")
    assert (created["status"], created["lifecycle"]) == ("created", "queued")
    assert created["queuePosition"] >= 1
    assert created["failureKind"] is None
    assert created["liveUrl"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("path", ["", "/messages", "/events"])
@pytest.mark.parametrize("session_id", [ABSENT, "nonsense", "1' OR '1'='1", "%00", "..%2f..", "ü"])
def test_a_session_that_is_none_is_404(http: httpx.Client, session_id: str, path: str) -> None:
    answer = http.get(f"/v3/sessions/{session_id}{path}")
    assert answer.status_code == 404
    assert isinstance(answer.json()["detail"], str)


def test_every_change_is_seen_by_the_next_look(server: RunningServer, http: httpx.Client) -> None:
    session = http.post("/v3/sessions", json={"task": "Look.", "model": "autopilot"}).json()
    for number in range(20):
        server.append(UUID(session["id"]), Notice(code="test", text="Moved on."), {"last_step_summary": str(number)})
        for _ in range(2):
            assert http.get(f"/v3/sessions/{session['id']}").json()["lastStepSummary"] == str(number)
    http.delete(f"/v3/sessions/{session['id']}")
    assert http.get(f"/v3/sessions/{session['id']}").status_code == 404


def test_stop_takes_no_body_or_a_strategy_and_names_the_words_it_knows(http: httpx.Client) -> None:
    created = http.post("/v3/sessions", json={"task": "x", "model": "autopilot"}).json()
    answer = http.post(f"/v3/sessions/{created['id']}/stop", json={"strategy": "everything"})
    assert problem_of(answer)[0] == ["body", "strategy"]
    assert "task, session" in problem_of(answer)[1]
    for content in (b"null", b"", b"{}", b'{"strategy": "session"}'):
        assert http.post(f"/v3/sessions/{created['id']}/stop", content=content).json()["status"] == "stopped"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v3/sessions?page=0", "page"),
        ("/v3/sessions?page_size=101", "page_size"),
        ("/v3/sessions?page_size=x", "page_size"),
        (f"/v3/sessions/{ABSENT}/messages?limit=0", "limit"),
        (f"/v3/sessions/{ABSENT}/messages?limit=101", "limit"),
        (f"/v3/sessions/{ABSENT}/messages?after=x", "after"),
        (f"/v3/sessions/{ABSENT}/animation?format=x", "format"),
        (f"/v3/sessions/{ABSENT}/export?scope=x", "scope"),
        (f"/v3/sessions/{ABSENT}/files?includeUrls=x", "includeUrls"),
    ],
)
def test_a_query_out_of_range_is_named(http: httpx.Client, path: str, name: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 422
    assert problem_of(answer)[0] == ["query", name]


def test_a_message_cursor_from_elsewhere_is_refused(http: httpx.Client) -> None:
    created = http.post("/v3/sessions", json={"task": "x", "model": "autopilot"}).json()
    for query in (f"after={uuid4()}", f"before={uuid4()}", f"after={uuid4()}&before={uuid4()}"):
        answer = http.get(f"/v3/sessions/{created['id']}/messages?{query}")
        assert answer.status_code == 400
        assert isinstance(answer.json()["detail"], str)


def test_delete_answers_204_without_a_body(http: httpx.Client) -> None:
    created = http.post("/v3/sessions").json()
    answer = http.delete(f"/v3/sessions/{created['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert http.get(f"/v3/sessions/{created['id']}").status_code == 404


@pytest.mark.parametrize("prefix", ["/v3", "/api/v3"])
def test_nothing_redirects(http: httpx.Client, prefix: str) -> None:
    created = http.post(f"{prefix}/sessions/", json={}).json()
    for path in ("/sessions/", f"/sessions/{created['id']}/", f"/sessions/{created['id']}/messages/"):
        assert http.get(f"{prefix}{path}").status_code == 200


@pytest.mark.parametrize("path", ["/v2/tasks", "/api/v2/sessions/1", "/api/v2/tasks/1/status"])
def test_another_version_is_told_where_the_api_is(http: httpx.Client, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = http.request(method, path)
        assert answer.status_code == 404
        assert "browser_use_sdk.v3" in answer.json()["detail"]


def test_calls_that_are_not_there_are_json_too(http: httpx.Client) -> None:
    assert "/schema" in http.get("/v3/boxes").json()["detail"]
    wrong_method = http.put("/v3/sessions")
    assert wrong_method.status_code == 405
    assert "PUT" in wrong_method.json()["detail"]


def test_health_needs_no_key(server: RunningServer) -> None:
    with server.client(headers={}) as http:
        assert http.get("/health").json() == {"status": "ok"}
        assert http.get("/healthz").json() == {"status": "ok"}
        assert http.get("/readyz").status_code == 200
