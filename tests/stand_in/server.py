"""The HTTP server of the stand-in: takes requests on threads, records them, and answers from the task's scenario."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.stand_in import faults, wire
from tests.stand_in.leaks import leak
from tests.stand_in.lookup import NotOnPage, resolve
from tests.stand_in.scenario import Answer, Scenario

RUN_MARKER = re.compile(r"RUN-[A-Za-z0-9]+")
SECRET_HEADERS = {"authorization", "x-api-key", "cookie"}


@dataclass
class Received:
    """One request as it came in; times are seconds since the epoch, `answered_at` is None while it is worked on.

    `provider` is "anthropic", "openai" or "compatible"; `kind` is one of scenario.KINDS; `marker` is the task's marker,
    if any; `number` counts the requests of this kind and marker from 0.
    """

    path: str
    provider: str
    kind: str
    marker: str
    number: int
    body: dict[str, Any]
    headers: dict[str, str]
    received_at: float
    texts: list[str] = field(repr=False)
    images: list[bytes] = field(repr=False)
    size: int = 0
    answered_at: float | None = None

    @property
    def text(self) -> str:
        """All text of the request."""
        return "\n".join(self.texts)


class StandIn:
    """The running server. Listens on loopback from the moment it is made until `close`.

    `tasks` maps a marker, a piece of text that only one task contains, to that task's scenario; every other task gets
    `scenario`. Tasks that carry "RUN-<id>" are counted apart even when they share a scenario. `refuses` are the parts
    that the compatible server answers with 400: "json_schema", "tools", "json_object", "images". A request with more
    than `window` characters of text is refused as too long. Neither takes a step of the scenario.
    A selector that does not fit the page fails the request and is kept in `problems`; leaving the context raises them.
    """

    def __init__(
        self,
        scenario: Any = (),
        *,
        tasks: dict[str, Any] | None = None,
        refuses: Iterable[str] = (),
        window: int | None = None,
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        self.refuses = set(refuses)
        self.window = window
        self.requests: list[Received] = []
        self.problems: list[str] = []
        self.closing = threading.Event()
        self._scenario = Scenario.read(scenario)
        self._tasks = {marker: Scenario.read(document) for marker, document in (tasks or {}).items()}
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._log = log
        self._server = _Server(("127.0.0.1", port), self)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="stand-in", daemon=True)
        self._thread.start()

    @property
    def anthropic_url(self) -> str:
        """Base URL for Anthropic's client."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """Base URL for OpenAI's client, Responses API."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def compatible_url(self) -> str:
        """Base URL for a client of a compatible chat server."""
        return f"http://127.0.0.1:{self.port}/compatible/v1"

    @property
    def steps(self) -> list[Received]:
        """The requests that asked for a step."""
        return [request for request in self.requests if request.kind == "step"]

    def add(self, marker: str, scenario: Any) -> None:
        """Give tasks that contain the marker a scenario of their own, from its first step."""
        with self._lock:
            self._tasks[marker] = Scenario.read(scenario)
            self._counts = {key: count for key, count in self._counts.items() if key[0] != marker}

    def close(self) -> None:
        """Stop answering; requests that hang are let go."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()
        if error is None and self.problems:
            raise AssertionError("The scenario does not fit what was shown. " + " ".join(self.problems))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ):
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    def take(self, path: str, headers: dict[str, str], raw: bytes) -> tuple[Received, Answer]:
        """Record a request and return it with its answer, selectors resolved; raises NotOnPage.

        A request with a part that this server refuses takes no step of the scenario.
        """
        received_at = time.time()
        body = json.loads(raw or b"{}")
        asked = wire.read_request(body)
        text = "\n".join(asked.texts)
        kind = _kind_of(asked)
        with self._lock:
            marker, scenario = self._find_scenario(text)
            number = self._counts.get((marker, kind), 0)
            refused = self._refused(path, body, asked)
            self._counts[marker, kind] = number + (refused is None)
            received = Received(
                path=path,
                provider=_provider_of(path),
                kind=kind,
                marker=marker,
                number=number,
                body=body,
                headers={name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS},
                received_at=received_at,
                texts=asked.texts,
                images=asked.images,
                size=len(raw),
            )
            self.requests.append(received)
        if refused is not None:
            return received, Answer(failure=refused)
        answer = scenario.answer(kind, number)
        try:
            return received, Answer(resolve(answer.reply, asked.texts), answer.failure, answer.options)
        except NotOnPage as problem:
            self.problems.append(f"Step {number + 1} of {marker or 'the scenario'}: {problem}.")
            raise

    def finish(self, received: Received) -> None:
        """Note that the request is answered, in the log file too if there is one."""
        received.answered_at = time.time()
        if self._log is None:
            return
        with self._lock, self._log.open("a") as file:
            file.write(json.dumps(_log_line(received)) + "\n")

    def _refused(self, path: str, body: dict[str, Any], asked: wire.Asked) -> dict[str, Any] | None:
        if self.window is not None and sum(map(len, asked.texts)) > self.window:
            return {"__overflow__": True}
        if _provider_of(path) != "compatible":
            return None
        form = (body.get("response_format") or {}).get("type", "")
        parts = {form, "tools" if body.get("tools") else "", "images" if asked.images else ""}
        part = next((part for part in sorted(parts) if part in self.refuses), "")
        return {"__http__": 400, "message": f"{part} are not supported by this server"} if part else None

    def _find_scenario(self, text: str) -> tuple[str, Scenario]:
        found = [(text.rfind(marker), marker) for marker in self._tasks if marker in text]
        if found:
            marker = max(found)[1]
            return marker, self._tasks[marker]
        runs = RUN_MARKER.findall(text)
        return (runs[-1] if runs else ""), self._scenario


def _kind_of(asked: wire.Asked) -> str:
    """Tell the kind by the reply's schema, and without one by the block that the question consists of."""
    fields: dict[str, Any] = (asked.schema or {}).get("properties", {})
    if "action" in fields or "verdict" in fields:
        return "step" if "action" in fields else "review"
    question = asked.texts[-1] if asked.texts else ""
    begins = {"<task>": "goal", "<steps>": "summary"}
    return next((kind for begin, kind in begins.items() if question.startswith(begin)), "extract")


def _provider_of(path: str) -> str:
    if path.endswith("/messages"):
        return "anthropic"
    return "compatible" if path.endswith("/chat/completions") else "openai"


def _log_line(received: Received) -> dict[str, Any]:
    """The fields that the peer benchmark's driver joins on, with a few of ours."""
    return {
        "t_recv": received.received_at,
        "t_sent": received.answered_at,
        "run": received.marker.removeprefix("RUN-"),
        "kind": received.kind,
        "step": received.number if received.kind == "step" else None,
        "path": received.path,
        "model": received.body.get("model"),
        "stream": bool(received.body.get("stream")),
        "body_bytes": received.size,
        "text_chars": sum(len(text) for text in received.texts),
        "images": len(received.images),
        "image_bytes": sum(len(image) for image in received.images),
    }


def _blocks(answer: Answer, *, offers_tool: bool) -> tuple[wire.Block, ...]:
    """Return what an answer consists of: calls of the tool that is offered, else text."""
    options = answer.options
    if kind := options.get("__leak__"):
        return leak(kind, answer.reply, offers_tool=offers_tool)
    replies = answer.reply if isinstance(answer.reply, list) else [answer.reply]
    blocks: list[wire.Block] = []
    for reply in replies:
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        is_call = offers_tool and isinstance(reply, dict) and not options.get("__text__")
        blocks.append(wire.Block("call" if is_call else "text", text[: options.get("__truncated__")], reply))
    return tuple(blocks)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], stand_in: StandIn) -> None:
        self.stand_in = stand_in
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about clients that hang up, which timeouts and cancelled runs do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for an acknowledgement
    timeout = 30
    server: _Server

    def do_GET(self) -> None:
        self._send_json(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        stand_in = self.server.stand_in
        path = self.path.split("?")[0]
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            received, answer = stand_in.take(path, dict(self.headers), raw)
        except NotOnPage as problem:
            self._refuse({"__http__": 400, "message": str(problem)}, _provider_of(path))
            return
        try:
            self._answer(received, answer)
        finally:
            stand_in.finish(received)

    def _answer(self, received: Received, answer: Answer) -> None:
        if delay := answer.options.get("__delay__"):
            self.server.stand_in.closing.wait(delay)
        failure = answer.failure
        if failure is None:
            self._speak(received, answer)
        elif "__http__" in failure or "__overflow__" in failure:
            self._refuse(failure, received.provider)
        elif "__stream_error__" in failure:
            if received.body.get("stream"):
                self._send_events(faults.failed_events(failure["__stream_error__"], received.provider))
            else:
                self._send_json(200, faults.failed_answer(failure["__stream_error__"], received.provider))
        else:
            seconds = failure.get("__hang__")
            if seconds:
                self.server.stand_in.closing.wait(None if seconds is True else seconds)
            self.close_connection = True

    def _speak(self, received: Received, answer: Answer) -> None:
        options = answer.options
        tool = wire.first_tool(received.body)
        blocks = _blocks(answer, offers_tool=bool(tool))
        asked = sum(len(part) for part in received.texts)
        said = sum(len(block.text) for block in blocks)
        usage = {"input": asked // 4 + 1, "cache_read": 0, "cache_write": 0, "output": said // 4 + 1}
        spoken = wire.Spoken(
            blocks=blocks,
            model=options.get("__model__") or received.body.get("model", ""),
            usage=usage | options.get("__usage__", {}),
            stop="length" if "__truncated__" in options else "refusal" if options.get("__refusal__") else "end",
            tool=tool,
        )
        write, write_events = {
            "anthropic": (wire.anthropic, wire.anthropic_events),
            "openai": (wire.responses, wire.responses_events),
            "compatible": (wire.chat, wire.chat_events),
        }[received.provider]
        if received.body.get("stream"):
            self._send_events(write_events(spoken), options.get("__pace__", 0), options.get("__cut__"))
        else:
            self._send_json(200, write(spoken), is_cut="__cut__" in options)

    def _refuse(self, failure: dict[str, Any], provider: str) -> None:
        self._send_json(*faults.refusal(failure, provider))

    def _send_json(
        self, status: int, value: Any, headers: dict[str, str] | None = None, *, is_cut: bool = False
    ) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, content in {
            "Content-Type": "application/json",
            "Content-Length": len(data),
            **(headers or {}),
        }.items():
            self.send_header(name, str(content))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if is_cut else data)
        self.close_connection = self.close_connection or is_cut

    def _send_events(self, events: Iterable[wire.Event], pace: float = 0, cut: int | None = None) -> None:
        """Send the events, waiting `pace` seconds after each; hang up after `cut` of them."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, data in islice(events, cut):
            payload = data if isinstance(data, str) else json.dumps(data)
            chunk = f"{f'event: {name}' + chr(10) if name else ''}data: {payload}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if pace:
                self.server.stand_in.closing.wait(pace)
        if cut is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Keep the test output clean."""
