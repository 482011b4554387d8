"""Starts a whole appliance beside a scripted model server and a test page, on ports and displays of its own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

from tests.stand_in import StandIn

KEY = "bench"
ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class RunningAppliance:
    """A server that answers; `process` is supervisord."""

    base_url: str
    process: subprocess.Popen[bytes]

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Make an API call and return the answer's JSON."""
        request = urllib.request.Request(  # noqa: S310 - always our own loopback address
            f"{self.base_url}{path}",
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"X-Browser-Use-API-Key": KEY, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.load(answer)

    def run(self, task: str, *, model: str, seconds: float = 120.0) -> dict[str, Any]:
        """Submit the task and return the finished session."""
        session = self.call("POST", "/v3/sessions", {"task": task, "model": model})
        deadline = time.monotonic() + seconds
        while session["status"] in ("created", "running"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"The run did not end within {seconds} s.")
            time.sleep(0.05)
            session = self.call("GET", f"/v3/sessions/{session['id']}")
        return session

    def find_server(self) -> psutil.Process:
        """Return the process that serves the pages and the API."""
        for child in psutil.Process(self.process.pid).children():
            if "serve" in child.cmdline():
                return child
        raise RuntimeError("supervisord runs no server.")


@contextlib.contextmanager
def open_appliance(stand_in: StandIn, *, slots: int = 1) -> Generator[RunningAppliance]:
    """Start supervisord with everything under it and yield once it answers; all of it is ended afterwards."""
    port = find_free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "DATA_DIR": f"{folder}/data",
            "RUN_DIR": f"{folder}/run",
            "PORT": str(port),
            "API_KEY": KEY,
            "MAX_CONCURRENT_SESSIONS": str(slots),
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": stand_in.anthropic_url,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": stand_in.openai_url,
            "BROWSE_PRIVATE": "loopback",
            "DISPLAY_BASE": "60",
            "BRIDGE_PORT_BASE": "16080",
            "CDP_PORT_BASE": "19222",
            "LOG_LEVEL": "warning",
        }
        process = subprocess.Popen(
            [str(ROOT / ".venv/bin/pilothouse"), "supervise"], env=environment, cwd=folder, stdout=sys.stderr
        )
        try:
            appliance = RunningAppliance(f"http://127.0.0.1:{port}", process)
            wait_until_healthy(appliance)
            yield appliance
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def wait_until_healthy(appliance: RunningAppliance) -> None:
    """Return once /health answers; raises TimeoutError after 30 s."""
    deadline = time.monotonic() + 30
    while True:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            appliance.call("GET", "/health")
            return
        if time.monotonic() > deadline or appliance.process.poll() is not None:
            raise TimeoutError("The appliance did not answer; its log stands above.")
        time.sleep(0.02)


def find_free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
def serve_page(page: bytes) -> Generator[str]:
    """Serve the page at every path of a loopback port and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

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
