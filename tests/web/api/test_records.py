import json
from decimal import Decimal
from io import BytesIO
from typing import Any
from uuid import UUID

import httpx
import pytest
from PIL import Image

from appliance.agent.record import Record, RecordedReceipt, RunClosed, RunOpened, StepAnswered, StepAsked, StepClosed
from appliance.events import ActionCall, Charge, Notice, TokenCount
from appliance.persistence.runs import find_latest_run
from appliance.runtime.folders import SessionFolders
from appliance.words import Ending, Purpose, ReceiptStatus
from tests.web.api.running import RunningServer


def recorded(server: RunningServer, http: httpx.Client, *, pictures: bool = True, **wish: Any) -> SessionFolders:
    """Make a session whose one run is over, with its record; return its folders."""
    body = {"task": "Find the mug", "model": "autopilot", "maxSteps": 7, **wish}
    created = http.post("/v3/sessions", json=body).json()
    session_id = UUID(created["id"])
    server.begin(session_id)

    async def run_id() -> str:
        async with server.appliance.database.read() as transaction:
            run = await find_latest_run(transaction, session_id)
        assert run is not None
        return str(run.id)

    folders = SessionFolders.of(server.settings, session_id)
    folders.make()
    record = Record(folders.record)
    record.append(RunOpened(task="Find the mug", model="m", max_steps=7, timeout=60.0, run=server.do(run_id)))
    if pictures:
        Image.new("RGB", (128, 80), "#cc2222").save(folders.screenshots / "001-0001.jpg")
    record.append(
        StepAsked(step=1, request="What next?", url="http://a/", title="A", fingerprint="", screenshot="001-0001.jpg")
    )
    call = ActionCall("c1", "navigate", {"url": "http://b/"})
    record.append(
        StepAnswered(step=1, reply="{}", calls=[call], tokens=TokenCount(), model="m", think_ms=1, move="Open b.")
    )
    receipt = RecordedReceipt(call_id="c1", status=ReceiptStatus.OK, text="Opened b.", url="http://b/")
    record.append(StepClosed(step=1, receipts=[receipt], tokens=TokenCount()))
    record.append(RunClosed(ending=Ending.DONE, is_successful=True, summary="Found.", steps=1, output="4 euros"))
    server.finish(session_id, output="4 euros")
    return folders


def at(folders: SessionFolders, what: str, base: str = "/v3") -> str:
    return f"{base}/sessions/{folders.root.name}/{what}"


@pytest.mark.parametrize("base", ["/v3", "/api/v3"])
def test_the_history_is_the_record(server: RunningServer, http: httpx.Client, base: str) -> None:
    folders = recorded(server, http)
    answer = http.get(at(folders, "history", base))
    assert answer.headers["content-type"].startswith("application/json")
    assert [entry["entry"] for entry in answer.json()] == [
        "run_opened",
        "step_asked",
        "step_answered",
        "step_closed",
        "run_closed",
    ]
    assert answer.json()[1]["request"] == "What next?"


def test_the_history_of_a_record_torn_by_a_crash_is_what_is_whole(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http)
    folders.record.write_bytes(folders.record.read_bytes()[:-30])
    assert [entry["entry"] for entry in http.get(at(folders, "history")).json()][-1] == "step_closed"


def test_a_session_without_a_run_has_an_empty_history(http: httpx.Client) -> None:
    session_id = http.post("/v3/sessions").json()["id"]
    assert http.get(f"/v3/sessions/{session_id}/history").json() == []


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_the_last_run_is_shown_as_a_moving_picture(server: RunningServer, http: httpx.Client, kind: str) -> None:
    folders = recorded(server, http)
    for _ in range(2):
        answer = http.get(at(folders, "animation"), params={"format": kind})
        assert answer.headers["content-type"] == f"image/{kind}"
        with Image.open(BytesIO(answer.content)) as film:
            assert getattr(film, "n_frames", 1) == 2


def test_any_run_of_a_session_is_shown_by_its_number(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http)
    first = http.get(at(folders, "animation"), params={"run": 1})
    assert first.content == http.get(at(folders, "animation")).content
    assert http.get(at(folders, "animation"), params={"run": 2}).status_code == 404
    assert http.get(at(folders, "animation"), params={"run": 0}).status_code == 422


def test_without_pictures_there_is_no_moving_picture(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http, pictures=False)
    assert http.get(at(folders, "animation")).status_code == 404
    assert http.get(at(folders, "animation"), params={"format": "mp4"}).status_code == 422
    assert not list(folders.root.glob("animation*"))


def test_an_export_says_as_much_as_its_scope(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http)
    (output,) = http.get(at(folders, "export")).json()["runs"]
    assert (output["output"], output["isSuccessful"]) == ("4 euros", True)
    assert "steps" not in output
    (steps,) = http.get(at(folders, "export"), params={"scope": "steps"}).json()["runs"]
    assert steps["steps"][0]["actions"][0]["result"] == "Opened b."
    assert steps["steps"][0]["summary"] == "Step 1: Open b. Opened b."
    assert (steps["urls"], steps["errors"]) == (["http://a/", "http://b/"], [])
    assert steps["seconds"] >= 0
    assert (steps["inputTokens"], steps["outputTokens"], steps["totalCostUsd"]) == (0, 0, "0")
    assert (steps["structuredOutput"], steps["partialOutput"]) == (None, None)
    assert "record" not in steps
    answer = http.get(at(folders, "export"), params={"scope": "full"})
    assert answer.json()["runs"][0]["record"][0]["entry"] == "run_opened"
    assert "attachment" in answer.headers["content-disposition"]
    assert http.get(at(folders, "export"), params={"scope": "all"}).status_code == 422


def test_an_export_has_one_number_for_what_a_run_cost_and_that_is_the_ledger_s(
    server: RunningServer, http: httpx.Client
) -> None:
    folders = recorded(server, http)
    charge = Charge(Purpose.STEP, "house-model", TokenCount(10, 5, 1, 7), Decimal("0.25"))
    server.append(UUID(folders.root.name), Notice(code="spent", text="It cost something."), charges=(charge,))
    for scope in ("output", "steps", "full"):
        (run,) = http.get(at(folders, "export"), params={"scope": scope}).json()["runs"]
        assert run["totalCostUsd"] == "0.25"
        assert "costUsd" not in run
        if scope != "output":
            assert (run["inputTokens"], run["outputTokens"]) == (16, 7)


def test_a_replay_is_a_session_of_its_own(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http)
    answer = http.post(at(folders, "replay"))
    assert answer.status_code == 200
    made = answer.json()
    assert made["id"] != folders.root.name
    assert (made["modelName"], made["maxSteps"], made["title"]) == ("autopilot", 7, "Replay: Find the mug")
    messages = http.get(f"/v3/sessions/{made['id']}/messages").json()["messages"]
    assert json.loads(messages[0]["data"])["content"] == "Find the mug"


def test_a_replay_keeps_to_the_domains_and_has_the_secrets_of_its_original(
    server: RunningServer, http: httpx.Client
) -> None:
    wish = {"allowedDomains": ["example.com"], "sensitiveData": {"pw": "open sesame 7"}}
    folders = recorded(server, http, **wish)
    made = http.post(at(folders, "replay"))
    assert made.json()["allowedDomains"] == ["example.com"]
    assert "open sesame 7" not in made.text
    session = server.do(lambda: server.appliance.sessions.find(UUID(made.json()["id"])))
    original = server.do(lambda: server.appliance.sessions.find(UUID(folders.root.name)))
    assert session.sensitive_data
    assert session.sensitive_data == original.sensitive_data


def test_a_replay_takes_its_own_limits(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http)
    made = http.post(at(folders, "replay"), json={"run": 1, "maxSteps": 3, "timeout": 30, "keepAlive": True}).json()
    assert (made["maxSteps"], made["timeout"], made["keepAlive"]) == (3, 30.0, True)


def test_what_cannot_be_replayed_is_refused_with_a_reason(server: RunningServer, http: httpx.Client) -> None:
    folders = recorded(server, http)
    assert http.post(at(folders, "replay"), json={"run": 2}).status_code == 422
    assert http.post(at(folders, "replay"), json={"model": "gpt-nothing"}).status_code == 422
    folders.record.unlink()
    gone = http.post(at(folders, "replay"))
    assert (gone.status_code, "record" in gone.json()["detail"]) == (409, True)
    empty = http.post("/v3/sessions").json()["id"]
    assert http.post(f"/v3/sessions/{empty}/replay").status_code == 409
    running = http.post("/v3/sessions", json={"task": "Wait", "model": "autopilot"}).json()["id"]
    assert http.post(f"/v3/sessions/{running}/replay").status_code == 409


@pytest.mark.parametrize("what", ["history", "animation", "export", "files"])
def test_a_session_that_is_not_there_has_nothing(server: RunningServer, http: httpx.Client, what: str) -> None:
    assert http.get(f"/v3/sessions/{UUID(int=7)}/{what}").status_code == 404
    with server.client(headers={}) as stranger:
        assert stranger.get(f"/v3/sessions/{UUID(int=7)}/{what}").status_code == 401


SOURCES = {
    "/price": {
        "status": "read",
        "url": "http://b/",
        "quote": "Price: 4 euros",
        "at": "2026-11-30T12:00:00+00:00",
        "step": 1,
        "screenshot": "001-0001.jpg",
    },
    "/date": {"status": "absent", "reason": "The page has no date."},
    "/name": {"status": "unseen"},
}


def finished(server: RunningServer, http: httpx.Client, **outcome: Any) -> UUID:
    """Make a session whose run has ended this way."""
    session_id = UUID(http.post("/v3/sessions", json={"task": "Find the mug", "model": "autopilot"}).json()["id"])
    server.begin(session_id)
    server.finish(session_id, **outcome)
    return session_id


@pytest.mark.parametrize("scope", ["output", "steps", "full"])
def test_an_export_of_any_scope_says_where_each_value_was_read(
    server: RunningServer, http: httpx.Client, scope: str
) -> None:
    session_id = finished(server, http, output={"price": 4, "date": None, "name": "Mug"}, provenance=SOURCES)
    (run,) = http.get(f"/v3/sessions/{session_id}/export", params={"scope": scope}).json()["runs"]
    assert run["output"]["price"] == 4
    assert run["provenance"]["/price"] == {**SOURCES["/price"], "at": "2026-11-30T12:00:00Z"}
    assert run["provenance"]["/date"] == SOURCES["/date"]
    assert run["provenance"]["/name"] == {"status": "unseen"}


def test_a_run_whose_answer_was_not_traced_has_no_provenance_to_export(
    server: RunningServer, http: httpx.Client
) -> None:
    session_id = finished(server, http, output="4 euros")
    (run,) = http.get(f"/v3/sessions/{session_id}/export").json()["runs"]
    assert run["provenance"] is None


def test_a_session_says_where_its_answer_was_read_when_it_is_asked_to(
    server: RunningServer, http: httpx.Client
) -> None:
    session_id = finished(server, http, output={"price": 4}, provenance=SOURCES)
    folders = SessionFolders.of(server.settings, session_id)
    folders.make()
    Image.new("RGB", (128, 80), "#cc2222").save(folders.screenshots / "001-0001.jpg")
    assert "provenance" not in http.get(f"/v3/sessions/{session_id}").json()
    told = http.get(f"/v3/sessions/{session_id}", params={"include": "provenance"}).json()["provenance"]
    assert (told["/price"]["quote"], told["/date"]["reason"]) == ("Price: 4 euros", "The page has no date.")
    assert "screenshotUrl" not in told["/name"]
    picture = httpx.get(told["/price"]["screenshotUrl"], trust_env=False)
    assert picture.headers["content-type"] == "image/jpeg"
    unknown = http.get(f"/v3/sessions/{session_id}", params={"include": "everything"})
    assert unknown.status_code == 422
