"""The table of failures as clients of the cloud's API see it: each kind, with a status where the provider gave one."""

from dataclasses import dataclass
from typing import Any

import pytest
from browser_use_sdk.v3 import BrowserUse
from pydantic import BaseModel

from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually

MODEL = "gpt-5.5"
DELIVERED = [{"done": {"text": "Ready.", "success": True}}]


@dataclass(frozen=True)
class Row:
    """A row of the table: what the model's server does, and what the session says then."""

    scenario: list[Any]
    kind: str
    status_code: int | None = None
    status: str = "error"


ROWS = {
    "rate limit": Row([{"__http__": 429}], "provider_rate_limit", 429),
    "server error": Row([{"__http__": 500}], "provider_server_error", 500),
    "connection": Row([{"__drop__": True}], "provider_connection_error"),
    "refused": Row([{"__http__": 401}], "provider_error", 401),
    "unusable": Row(["no JSON at all"], "invalid_output"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_failure_of_the_provider_is_told_by_its_kind(
    name: str, instance: Instance, stand_in: StandIn, client: BrowserUse
):
    row, marker = ROWS[name], f"RUN-kind{name.replace(' ', '')}"
    stand_in.add(marker, row.scenario)
    result = client.run(f"{marker} Go.", model=MODEL)
    session = instance.find({"id": str(result.session.id)})
    assert result.output is None
    assert (session["failureKind"], session["failureStatusCode"]) == (row.kind, row.status_code)
    assert (session["status"], session["isTaskSuccessful"]) == (row.status, False)
    assert session["lastStepSummary"]


def test_a_provider_that_does_not_answer_in_time_is_told_from_a_run_out_of_time(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-outoftime", [{"__hang__": True}])
    result = client.run("RUN-outoftime Go.", model=MODEL, timeout=4)
    session = instance.find({"id": str(result.session.id)})
    assert (session["status"], session["failureKind"]) == ("timed_out", "session_timeout")
    assert session["isTaskSuccessful"] is False


def test_a_run_that_never_started_is_a_failure_of_the_agent(stand_in: StandIn):
    with Instance({"OPENAI_API_KEY": "sk-secret-of-the-tests", "OPENAI_BASE_URL": stand_in.openai_url}) as instance:
        waiting = instance.create(model=MODEL)
        instance.stop()
        del instance.environment["OPENAI_API_KEY"]
        instance.start()
        refused = instance.http.post("/v3/sessions", json={"sessionId": waiting["id"], "task": "Go."})
        assert refused.status_code == 422
        assert "OPENAI_API_KEY" in refused.text


class Tide(BaseModel):
    height: float


BIG = {"input": 100_000, "cache_read": 0, "cache_write": 0, "output": 1_000}


def _paid(step: Any) -> dict[str, Any]:
    """Return a step whose reply is said to have used a great many tokens."""
    return {"reply": step, "__usage__": BIG}


def test_a_run_at_its_cap_says_so_beside_what_it_delivered(instance: Instance, stand_in: StandIn, client: BrowserUse):
    look = {"navigate": {"url": f"http://127.0.0.1:{instance.port}/demo/"}}
    fill = {"set_field": {"field": "height", "value": 128.5}}
    stand_in.add("RUN-cappedfull", [_paid(look), _paid(fill), _paid(look)])
    stand_in.add("RUN-cappedempty", [_paid(look)])
    full = client.run("RUN-cappedfull Find the 128.5.", model=MODEL, output_schema=Tide, max_cost_usd=2)
    empty = client.run("RUN-cappedempty Look.", model=MODEL, max_cost_usd=2)
    assert full.output == Tide(height=128.5)
    for result, is_successful in ((full, True), (empty, False)):
        session = instance.find({"id": str(result.session.id)})
        assert (session["status"], session["failureKind"]) == ("stopped", "budget_exceeded")
        assert session["isTaskSuccessful"] is is_successful
    assert empty.output is None


def test_a_session_kept_alive_is_idle_after_its_cap_and_the_next_task_clears_what_failed(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-cappedkept", [_paid({"wait": {"seconds": 0}})])
    stand_in.add("RUN-cappednext", DELIVERED)
    capped = client.run("RUN-cappedkept Look.", model=MODEL, keep_alive=True, max_cost_usd=2)
    session = instance.find({"id": str(capped.session.id)})
    assert (session["status"], session["failureKind"]) == ("idle", "budget_exceeded")
    assert client.run("RUN-cappednext Go on.", session_id=str(capped.session.id)).output == "Ready."
    session = instance.find(session)
    assert (session["failureKind"], session["isTaskSuccessful"]) == (None, True)
    assert float(session["maxCostUsd"]) > 2


def test_a_run_that_a_restart_interrupts_has_no_kind(provider_settings: dict[str, str], stand_in: StandIn):
    stand_in.add("RUN-interrupted", [{"__hang__": True}])
    with Instance(provider_settings) as instance:
        session = instance.create(task="RUN-interrupted Go.", model=MODEL)
        eventually(lambda: any(one.marker == "RUN-interrupted" for one in stand_in.steps), "the model is asked", 60)
        instance.server.kill()
        ended = eventually(lambda: instance.is_ready() and instance.find(session), "the server is back", 60)
        assert (ended["status"], ended["failureKind"], ended["isTaskSuccessful"]) == ("error", None, False)
        assert "server" in ended["lastStepSummary"]
