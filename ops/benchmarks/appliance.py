"""What is measured: a whole appliance of its own beside a scripted model server, at work on an ordinary page."""

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.stand_in import StandIn
from tests.system.instance import Instance

MODEL = "gpt-5.4-mini"


def make_appliance(stand_in: StandIn) -> Instance:
    """Return an appliance with one slot that asks the stand-in; it runs as long as it is entered."""
    return Instance({"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": stand_in.openai_url, "LOG_LEVEL": "warning"})


def run_task(appliance: Instance, task: str, model: str = MODEL) -> dict[str, Any]:
    """Submit the task and return the finished session; asks for it as seldom as a client would."""
    session = appliance.create(task=task, model=model)
    deadline = time.monotonic() + 120
    while session["status"] in ("created", "running"):
        if time.monotonic() > deadline:
            raise TimeoutError("The run did not end within 120 s.")
        time.sleep(0.5)
        session = appliance.find(session)
    return session


def make_page(nodes: int) -> bytes:
    """Return an ordinary page of about so many nodes, with a button that counts its clicks."""
    row = (
        '<div><a href="#{0}">Link {0}</a><button>Row {0}</button><input value="{0}"><p>Text <b>of</b> row {0}</p></div>'
    )
    rows = "".join(row.format(number) for number in range(nodes // 9))
    count = "document.getElementById('n').textContent = ++window.n"
    head = "<!doctype html><title>Bench</title><script>window.n = 0</script>"
    return f'{head}<button onclick="{count}">Count</button> <output id="n">0</output>{rows}'.encode()


@contextlib.contextmanager
def serve_page(page: bytes | Callable[[str], bytes]) -> Generator[str]:
    """Serve the page, or what the function returns for a path, at a loopback port and yield the port's address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page if isinstance(page, bytes) else page(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
