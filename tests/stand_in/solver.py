"""A stand-in of the service that solves captchas: real HTTP, and answers as the test has scripted them."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Self

KEY = "CAP-0123456789ABCDEF"
SYNCHRONOUS = ("ImageToTextTask",)


@dataclass(frozen=True)
class Turn:
    """How one task is answered, by default at once with the right solution.

    `error` is a code, told when the task is handed in or, with `late`, when its result is asked for. `pending` is how
    often the result is not ready. `raw` is sent instead of JSON, `status` is that of HTTP, `hangs` never answers.
    """

    error: str = ""
    late: bool = False
    pending: int = 0
    solution: dict[str, Any] | None = None
    cost: str | None = None
    raw: str = ""
    status: int = 200
    hangs: bool = False


@dataclass
class _Task:
    turn: Turn
    solution: dict[str, Any]
    left: int


@dataclass
class SolverService:
    """The running service; `tasks` are those handed in with the right key, `given` the solutions it has given.

    `script` has a turn for each of the first tasks; later ones are solved at once. `polls` counts how often a result
    was asked for, `polled` is set once it was.
    """

    script: list[Turn] = field(default_factory=list[Turn])
    key: str = KEY
    tasks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    given: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    polls: int = 0

    def __post_init__(self) -> None:
        self.closing = threading.Event()
        self.polled = threading.Event()
        self._open: dict[str, _Task] = {}
        self._numbers = count(1)
        service = self

        class Handler(_Handler):
            pass

        Handler.service = service
        self._server = _Server(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """The address that takes the place of the service's own."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return status and answer of a request: a JSON document, or a text that is sent as it is."""
        if body.get("clientKey") != self.key:
            return 401, _error("ERROR_KEY_DENIED_ACCESS")
        if method == "createTask":
            return self._create(body["task"])
        if method == "getTaskResult":
            return self._result(body["taskId"])
        return 404, "no such method"

    def _create(self, task: dict[str, Any]) -> tuple[int, Any]:
        turn = self.script[len(self.tasks)] if len(self.tasks) < len(self.script) else Turn()
        self.tasks.append(task)
        if turn.hangs:
            self.closing.wait(30)
        if turn.raw:
            return turn.status, turn.raw
        if turn.error and not turn.late:
            return 400, _error(turn.error)
        made = _Task(turn, turn.solution if turn.solution is not None else solve(task), turn.pending)
        if task["type"] in SYNCHRONOUS:
            return 200, self._ready(made)
        task_id = f"task-{next(self._numbers)}"
        self._open[task_id] = made
        return 200, {"errorId": 0, "taskId": task_id, "status": "processing"}

    def _result(self, task_id: str) -> tuple[int, Any]:
        self.polls += 1
        self.polled.set()
        task = self._open[task_id]
        if task.left > 0:
            task.left -= 1
            return 200, {"errorId": 0, "taskId": task_id, "status": "processing"}
        if task.turn.error:
            return 200, _error(task.turn.error)
        return 200, {"taskId": task_id, **self._ready(task)}

    def _ready(self, task: _Task) -> dict[str, Any]:
        self.given.append(task.solution)
        answer = {"errorId": 0, "status": "ready", "solution": task.solution}
        return {**answer, "cost": task.turn.cost} if task.turn.cost is not None else answer


def solve(task: dict[str, Any]) -> dict[str, Any]:
    """Return the solution of a task, made of what only the page knows: the pages of the test site take no other."""
    kind = task["type"]
    if kind.startswith("ReCaptcha"):
        return {"gRecaptchaResponse": f"solved:{task['websiteKey']}", "userAgent": "someone"}
    if kind == "GeeTestTaskProxyLess" and "captchaId" in task:
        names = ("lot_number", "pass_token", "captcha_output")
        return dict.fromkeys(names, f"solved:{task['captchaId']}") | {
            "captcha_id": task["captchaId"],
            "gen_time": "1700000000",
        }
    if kind == "GeeTestTaskProxyLess":
        return {"challenge": task["challenge"], "validate": f"solved:{task['gt']}"}
    if kind == "AntiAwsWafTaskProxyLess":
        return {"cookie": f"solved:{task.get('awsKey', 'script')}"}
    if kind == "ImageToTextTask":
        return {"text": "w3kq7"}
    return {"token": f"solved:{task['websiteKey']}"}


def _error(code: str) -> dict[str, Any]:
    return {"errorId": 1, "errorCode": code, "errorDescription": f"said of {KEY}", "taskId": None}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that hang up."""


class _Handler(BaseHTTPRequestHandler):
    service: SolverService
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        status, answer = self.service.answer(self.path.rsplit("/", 1)[-1], body)
        raw = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        pass
