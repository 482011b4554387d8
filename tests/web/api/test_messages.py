import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from appliance.events import ActionCall, ActionFinished, GoalStated, Notice, Reviewed, StepPlanned, TokenCount
from appliance.runtime.folders import SessionFolders
from appliance.words import ReceiptStatus, SessionStatus
from tests.web.api.running import RunningServer


def start(server: RunningServer, http: httpx.Client, task: str = "Buy a lamp", **body: Any) -> UUID:
    created = http.post("/v3/sessions", json={"task": task, "model": "autopilot", **body}).json()
    session_id = UUID(created["id"])
    server.begin(session_id)
    return session_id


def plan(*calls: ActionCall, screenshot: str | None = None) -> StepPlanned:
    texts = {"see": "A shop.", "plan": "Find lamps.", "move": "Open the shop."}
    page = {"url": "http://x.org/", "title": "X", "tokens": TokenCount()}
    return StepPlanned(step=1, calls=calls, screenshot=screenshot, **texts, **page)


def visible(http: httpx.Client, session_id: UUID) -> list[dict[str, Any]]:
    messages = http.get(f"/v3/sessions/{session_id}/messages?limit=100").json()["messages"]
    return [message for message in messages if not message["hidden"]]


def test_a_turn_is_a_chat_with_paired_tool_calls(server: RunningServer, http: httpx.Client) -> None:
    session_id = start(server, http)
    server.append(
        session_id, plan(ActionCall("c1", "navigate", {"url": "http://shop/"}), ActionCall("c2", "click", {}))
    )
    server.append(session_id, ActionFinished(1, "c1", "navigate", ReceiptStatus.OK, "Opened http://shop/.", 90))
    server.append(session_id, ActionFinished(1, "c2", "click", ReceiptStatus.FAILED, "Element 4 is gone.", 3))
    server.append(session_id, Notice(code="reply_repaired", text="The reply was repaired."))
    server.finish(session_id, output={"lamp": "ä"}, summary="Bought a lamp.")
    task, step, opened, failed, notice, end = visible(http, session_id)
    assert (task["role"], task["type"], json.loads(task["data"])) == ("user", "user_message", {"content": "Buy a lamp"})
    assert (step["role"], step["type"], step["summary"]) == ("assistant", "browser_action", "Open the shop.")
    said = json.loads(step["data"])
    assert said["content"] == "A shop.\nFind lamps.\nOpen the shop."
    calls = [(call["id"], call["type"], call["function"]["name"]) for call in said["tool_calls"]]
    assert calls == [("c1", "function", "browser_navigate"), ("c2", "function", "browser_click")]
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == {"url": "http://shop/"}
    assert (opened["role"], opened["type"]) == ("tool", "browser_action_result")
    assert json.loads(opened["data"])["tool_call_id"] == "c1"
    assert (failed["type"], failed["summary"]) == ("browser_action_error", "Element 4 is gone.")
    assert (notice["role"], notice["type"]) == ("assistant", "planning")
    assert (end["type"], end["summary"]) == ("completion", "Bought a lamp.")
    assert json.loads(json.loads(end["data"])["content"]) == {"lamp": "ä"}


def test_the_goal_is_a_message_of_its_own(server: RunningServer, http: httpx.Client) -> None:
    session_id = start(server, http)
    server.append(session_id, GoalStated(goal="One lamp and its price."))
    message = visible(http, session_id)[-1]
    assert (message["role"], message["type"]) == ("assistant", "planning")
    assert message["summary"] == "One lamp and its price."
    assert json.loads(message["data"]) == {
        "content": "GOAL: One lamp and its price.",
        "category": "goal",
        "action": "goal",
    }


def test_what_the_reviewer_said_is_a_message_with_its_verdict(server: RunningServer, http: httpx.Client) -> None:
    session_id = start(server, http)
    server.append(session_id, Reviewed(verdict=False, text="One lamp is missing.", round=1))
    server.append(session_id, Reviewed(verdict=False, text="It is handed over.", round=1, recorded=True))
    told = [json.loads(message["data"]) for message in visible(http, session_id)[-2:]]
    kind = {"category": "judge", "action": "review", "verdict": False, "round": 1}
    assert told[0] == {"content": "One lamp is missing.", **kind}
    assert told[1] == {"content": "It is handed over.", **kind, "recorded": True}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (ActionCall("c", "search", {"query": "q"}), ("browser_action", "web_search", {"query": "q"})),
        (ActionCall("c", "input", {"text": "t"}), ("browser_action", "browser_type", {"text": "t"})),
        (ActionCall("c", "write_file", {"file_name": "a"}), ("file_operation", "write", {"path": "a"})),
        (ActionCall("c", "read_file", {"file_name": "a"}), ("file_operation", "read_file", {"path": "a"})),
        (ActionCall("c", "evaluate", {"code": "1"}), ("code_execution", "evaluate", {"code": "1"})),
        (ActionCall("c", "hover", {"index": 1}), ("browser_action", "browser_hover", {"index": 1})),
        (ActionCall("c", "extract", {"query": "q"}), ("browser_action", "extract", {"query": "q"})),
        (ActionCall("c", "done", {"text": "t"}), ("completion", "done_autonomous", {"text": "t"})),
    ],
)
def test_actions_have_the_cloud_s_names_where_it_has_them(
    server: RunningServer, http: httpx.Client, call: ActionCall, expected: tuple[str, str, dict[str, Any]]
) -> None:
    session_id = start(server, http)
    server.append(session_id, plan(call))
    message = visible(http, session_id)[-1]
    function = json.loads(message["data"])["tool_calls"][0]["function"]
    assert (message["type"], function["name"], json.loads(function["arguments"])) == expected


def test_a_summary_is_one_short_line(server: RunningServer, http: httpx.Client) -> None:
    session_id = start(server, http, task="Read\n\nthis " + "word " * 100)
    summary = visible(http, session_id)[0]["summary"]
    assert summary.startswith("Read this word")
    assert len(summary) == 200
    assert summary.endswith("…")


def test_screenshots_open_without_a_key_through_their_absolute_link_only(
    server: RunningServer, http: httpx.Client
) -> None:
    session_id = start(server, http)
    folders = SessionFolders.of(server.settings, session_id)
    folders.make()
    (folders.screenshots / "step-0001.jpg").write_bytes(b"\xff\xd8 picture")
    (folders.screenshots / "notes.txt").write_text("secret")
    (folders.root / "outside.jpg").write_bytes(b"secret")
    server.append(session_id, plan(screenshot="step-0001.jpg"))
    link = visible(http, session_id)[-1]["screenshotUrl"]
    assert link == http.get(f"/v3/sessions/{session_id}").json()["screenshotUrl"]
    listed = http.get("/v3/sessions?page_size=100").json()["sessions"]
    assert [one["screenshotUrl"] for one in listed if one["id"] == str(session_id)] == [None]
    with httpx.Client(trust_env=False) as stranger:
        answer = stranger.get(link)
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (
            200,
            b"\xff\xd8 picture",
            "image/jpeg",
        )
        assert stranger.get(link.split("?")[0]).status_code == 404
        assert stranger.get(f"{link}0").status_code == 404
        assert stranger.get(link.replace("step-0001", "step-0002")).status_code == 404
    for name in ("notes.txt", "../outside.jpg", "..%2Foutside.jpg", "step-9999.jpg"):
        path = f"/screenshots/{session_id}/{name}"
        signed = server.appliance.signer.link(server.url, path, timedelta(minutes=5))
        assert http.get(signed).status_code == 404


def read_events(lines: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Return name, id and data of each server-sent event until the stream ends."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        elif "data" in fields:
            found.append((fields.get("event", ""), fields.get("id", ""), json.loads(fields["data"])))
            fields = {}
    return found


def test_the_stream_has_what_was_and_what_comes_and_ends_with_the_session(
    server: RunningServer, http: httpx.Client
) -> None:
    session_id = start(server, http)
    with http.stream("GET", f"/v3/sessions/{session_id}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        first = read_until(lines, "Buy a lamp")
        for number in range(3):
            server.append(session_id, Notice(code="n", text=f"news {number}"))
        server.finish(session_id, SessionStatus.STOPPED, output="ok")
        rest = read_events(lines)
    assert first["role"] == "user"
    assert said_in(rest) == ["news 0", "news 1", "news 2", "Done."]
    assert (rest[-1][0], rest[-1][2]["status"], rest[-1][2]["output"]) == ("session", "stopped", "ok")
    last_id = next(event_id for _, event_id, data in rest if data.get("summary") == "news 0")
    with http.stream("GET", f"/v3/sessions/{session_id}/events", headers={"Last-Event-ID": last_id}) as answer:
        again = read_events(answer.iter_lines())
    assert said_in(again) == ["news 1", "news 2", "Done."]
    assert http.get(f"/v3/sessions/{session_id}/events", headers={"Last-Event-ID": "x"}).status_code == 400


def said_in(events: list[tuple[str, str, dict[str, Any]]]) -> list[str]:
    return [data["summary"] for name, _, data in events if name == "message" and not data["hidden"]]


def read_until(lines: Any, summary: str) -> dict[str, Any]:
    for line in lines:
        if line.startswith("data:") and (data := json.loads(line.partition(":")[2]))["summary"] == summary:
            return data
    raise AssertionError("the stream ended too early")


@pytest.mark.parametrize(
    ("code", "category", "action"),
    [
        ("start_url", "memory", "startUrl"),
        ("found_links", "read", "find_links"),
        ("read_pages", "read", "read_pages"),
        ("script_run", "code", "script"),
        ("schema_seeded", "schema", "seed"),
        ("incomplete", "schema", "completeness"),
        ("store_delivered", "judge", "storeComplete"),
        ("captcha", "interaction", "captcha"),
        ("pressure", "system", "pressure"),
    ],
)
def test_a_notice_has_the_category_and_action_that_callers_sort_by(
    server: RunningServer, http: httpx.Client, code: str, category: str, action: str
) -> None:
    session_id = start(server, http)
    server.append(session_id, Notice(code=code, text="Read 14 pages."))
    message = visible(http, session_id)[-1]
    assert (message["role"], message["type"], message["summary"]) == ("assistant", "planning", "Read 14 pages.")
    assert json.loads(message["data"]) == {"content": "Read 14 pages.", "category": category, "action": action}


def test_an_ordinary_notice_has_no_category(server: RunningServer, http: httpx.Client) -> None:
    session_id = start(server, http)
    server.append(session_id, Notice(code="reply_repaired", text="It is asked again."))
    assert json.loads(visible(http, session_id)[-1]["data"]) == {"content": "It is asked again."}
