import json
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.web.api.running import KEY, RunningServer

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]


def test_the_document_describes_the_calls_once_with_their_key(server: RunningServer) -> None:
    with server.client(headers={}) as http:
        document = http.get("/schema").json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {
        "/v3/sessions",
        "/v3/sessions/{session_id}",
        "/v3/sessions/{session_id}/stop",
        "/v3/sessions/{session_id}/pause",
        "/v3/sessions/{session_id}/resume",
        "/v3/sessions/{session_id}/messages",
        "/v3/sessions/{session_id}/events",
        "/v3/sessions/{session_id}/history",
        "/v3/sessions/{session_id}/animation",
        "/v3/sessions/{session_id}/export",
        "/v3/sessions/{session_id}/files",
        "/v3/sessions/{session_id}/replay",
        "/v3/usage",
        "/v3/budgets",
        "/v3/budgets/{budget_id}",
        "/v3/budgets/{budget_id}/raise",
        "/v3/billing/account",
        "/v3/workspaces",
        "/v3/workspaces/{workspace_id}",
        "/v3/workspaces/{workspace_id}/files",
        "/v3/workspaces/{workspace_id}/files/upload",
        "/v3/workspaces/{workspace_id}/size",
        "/v3/profiles",
        "/v3/profiles/export",
        "/v3/profiles/import",
        "/v3/profiles/{profile_id}",
        "/v3/profiles/{profile_id}/compare",
        "/v3/profiles/{profile_id}/merge",
        "/v3/profiles/{profile_id}/merges",
        "/v3/profiles/{profile_id}/merges/{number}",
        "/v3/profiles/{profile_id}/merges/{number}/restore",
        "/v3/profiles/{profile_id}/storage-state",
    }
    assert document["components"]["securitySchemes"]["apiKey"]["name"] == "X-Browser-Use-API-Key"
    create = document["paths"]["/v3/sessions"]["post"]
    assert create["security"] == [{"apiKey": []}, {"bearer": []}]
    assert {"200", "401", "409", "422", "429"} <= set(create["responses"])
    text = json.dumps(document)
    assert "maxCostUsd" in text
    assert "max_cost_usd" not in text


def test_no_generated_request_breaks_the_server_or_its_own_document(server: RunningServer) -> None:
    document = httpx.get(f"{server.url}/schema", trust_env=False).json()
    del document["paths"]["/v3/sessions/{session_id}/events"]
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=server.url)
    with server.client() as http:
        session = http.post("/v3/sessions").json()["id"]
    for result in schema.get_all_operations():
        for mode in schemathesis.GenerationMode:
            _call_with_generated_requests(result.ok(), mode, session)


def _call_with_generated_requests(operation: Any, mode: schemathesis.GenerationMode, session: str) -> None:
    @settings(
        max_examples=8,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: schemathesis.Case) -> None:
        if operation.method == "get" and "session_id" in case.path_parameters:
            case.path_parameters["session_id"] = session
        case.call_and_validate(headers={"X-Browser-Use-API-Key": KEY}, checks=CHECKS)

    call()
