"""Failing answers in the words of each provider: refusals with a status, and failures inside an HTTP 200."""

from collections.abc import Iterator
from typing import Any

from tests.stand_in import wire

ASKS_FOR_PATIENCE = 0.01
ERROR_TYPES = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
SAID = "This failure is scripted."
TOO_LONG: dict[str, dict[str, Any]] = {
    "anthropic": {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "prompt is too long: 214512 tokens > 200000 maximum"},
    },
    "openai": {
        "error": {
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
            "param": "input",
            "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
        }
    },
    "compatible": {
        "object": "error",
        "type": "BadRequestError",
        "code": 400,
        "message": "This model's maximum context length is 8192 tokens. However, you requested 9021 tokens.",
    },
}
"""What each kind of server says with a 400 to a request that is longer than the window."""

_NOTHING_USED = {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0}


def refusal(failure: dict[str, Any], provider: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return status, body and headers for an HTTP failure or an overflow of the scenario."""
    if "__overflow__" in failure:
        return 400, TOO_LONG[provider], {}
    status = failure["__http__"]
    kind = ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error = {"type": kind, "code": kind, "message": failure.get("message", SAID)}
    retry_after = failure.get("retry_after", ASKS_FOR_PATIENCE)
    headers = {"retry-after-ms": str(retry_after * 1000), "retry-after": str(retry_after)}
    return status, failure.get("body", {"type": "error", "error": error}), headers


def failed_answer(kind: str, provider: str) -> dict[str, Any]:
    """Return the body of an HTTP 200 that holds a failure of that type instead of an answer."""
    error = {"type": kind, "code": kind, "message": SAID}
    if provider == "openai":
        return {**wire.responses(wire.Spoken((), usage=_NOTHING_USED)), "status": "failed", "error": error}
    return {"type": "error", "error": error} if provider == "anthropic" else {"error": error}


def failed_events(kind: str, provider: str) -> Iterator[wire.Event]:
    """Yield the events of a stream that begins and then fails in the same way."""
    failed = failed_answer(kind, provider)
    if provider == "openai":
        begun = {**failed, "status": "in_progress", "error": None, "usage": None}
        yield "response.created", {"type": "response.created", "sequence_number": 0, "response": begun}
        yield "response.failed", {"type": "response.failed", "sequence_number": 1, "response": failed}
    else:
        yield ("error" if provider == "anthropic" else ""), failed
