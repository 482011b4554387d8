"""The HTTP API as the command line uses it: a key, an address, and errors as one sentence."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import httpx

from appliance.errors import PilothouseError

_FINAL = ("idle", "stopped", "timed_out", "error")
_POLL_SECONDS = 0.3


class ApiClient:
    """Calls one server with one key; raises PilothouseError with what the server or the network said."""

    def __init__(self, base_url: str, key: str) -> None:
        self._base_url = base_url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self._base_url}/v3/",
            headers={"X-Browser-Use-API-Key": key} if key else {},
            timeout=30,
            trust_env=False,
        )

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the decoded answer of one call."""
        try:
            answer = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise PilothouseError(
                f"No answer from {self._base_url} ({error or type(error).__name__}); start it with ops/start."
            ) from error
        if answer.is_error:
            raise PilothouseError(f"The server refused with {answer.status_code}: {_reason(answer.text)}")
        return answer.json() if answer.content else None

    def is_up(self) -> bool:
        """Whether a server answers there at all."""
        try:
            return self._http.get(f"{self._base_url}/health", timeout=2).is_success
        except httpx.HTTPError:
            return False

    def messages_after(self, session_id: str, cursor: str | None) -> list[dict[str, Any]]:
        """Return the next messages of a session's feed, oldest first; from its start without a cursor."""
        if cursor is not None:
            return self.call("GET", f"sessions/{session_id}/messages?limit=100&after={cursor}")["messages"]
        page = self.call("GET", f"sessions/{session_id}/messages?limit=100")
        found: list[dict[str, Any]] = page["messages"]
        while page["hasMore"]:
            page = self.call("GET", f"sessions/{session_id}/messages?limit=100&before={found[0]['id']}")
            found = page["messages"] + found
        return found

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()


@contextmanager
def open_client(base_url: str, key: str) -> Generator[ApiClient]:
    """Give a client for the length of a block."""
    client = ApiClient(base_url, key)
    try:
        yield client
    finally:
        client.close()


def follow(client: ApiClient, session_id: str) -> dict[str, Any]:
    """Print the session's feed until its run ends and return the session; Ctrl-C stops the session."""
    try:
        return _follow(client, session_id)
    except KeyboardInterrupt as error:
        client.call("POST", f"sessions/{session_id}/stop")
        raise PilothouseError("Interrupted; the session has been stopped.") from error


def print_result(session: dict[str, Any]) -> None:
    """Print the output of a finished session; raises PilothouseError if it delivered nothing."""
    output = session.get("output")
    if output is not None:
        print(output if isinstance(output, str) else json.dumps(output, indent=2, ensure_ascii=False))
    if not session.get("isTaskSuccessful"):
        kind = f" ({session['failureKind']})" if session.get("failureKind") else ""
        reason = session.get("lastStepSummary") or "no reason was given"
        raise PilothouseError(f"The session ended as {session['status']}{kind}: {reason}")


def _follow(client: ApiClient, session_id: str) -> dict[str, Any]:
    cursor: str | None = None
    while True:
        session = client.call("GET", f"sessions/{session_id}")
        for message in client.messages_after(session_id, cursor):
            cursor = message["id"]
            _print_message(message)
        if session["status"] in _FINAL:
            return session
        time.sleep(_POLL_SECONDS)


def _print_message(message: dict[str, Any]) -> None:
    line = (message.get("summary") or "").strip()
    if line and not message.get("hidden"):
        print(f"  {message['createdAt'][11:19]}  {line.splitlines()[0][:160]}", flush=True)


def _reason(text: str) -> str:
    """Return why the server refused, from its body: a sentence, or a list of wrong fields."""
    try:
        body: Any = json.loads(text)
        reason: Any = body.get("message") or body.get("detail")
        if isinstance(reason, list):
            items = cast("list[dict[str, Any]]", reason)
            return "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in items)
    except (ValueError, AttributeError, KeyError, TypeError):
        return text[:200] or "no reason given"
    return reason if isinstance(reason, str) else json.dumps(reason)
