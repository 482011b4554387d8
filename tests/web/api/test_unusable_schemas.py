from typing import Any

import httpx
import pytest

DEEP: dict[str, Any] = {"type": "string"}
for _ in range(60):
    DEEP = {"type": "object", "properties": {"a": DEEP}}


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "nonsense"}, "nonsense"),
        ({"$ref": "https://example.com/answer.json"}, "https://example.com/answer.json"),
        ({"properties": {"a": {"$ref": "#/$defs/nowhere"}}}, "/$defs/nowhere"),
        (DEEP, "nested deeper than 100 levels"),
        ({"properties": {f"field{number}": {} for number in range(2_001)}}, "2001 fields"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_at_once_naming_the_field(
    http: httpx.Client, schema: dict[str, Any], says: str
) -> None:
    answer = http.post("/v3/sessions", json={"task": "Get it", "model": "autopilot", "outputSchema": schema})
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["body", "outputSchema"]
    assert says in problem["msg"]
    assert "correct it" in problem["msg"]


def test_a_schema_that_contains_itself_is_taken(http: httpx.Client) -> None:
    node = {"type": "object", "properties": {"parts": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    schema = {"$defs": {"Node": node}, "$ref": "#/$defs/Node"}
    answer = http.post("/v3/sessions", json={"outputSchema": schema, "model": "autopilot"})
    assert answer.status_code in (200, 201)
    assert answer.json()["outputSchema"] == schema
