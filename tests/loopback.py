"""Pages made by a function, served at a port of the loopback address."""

import contextlib
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GONE = b"<title>Gone</title><h1>There is no such page.</h1>"


@contextlib.contextmanager
def serve_pages(page_of: Callable[[str], bytes | None]) -> Generator[str]:
    """Serve the page of each path, 404 where that is None, and yield the address of the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = page_of(self.path)
            body = GONE if page is None else page
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
