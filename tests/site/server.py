"""The test site: files of `pages/` and routes that behave badly on purpose, on 127.0.0.1, .2 and .3 at one port.

In a page `{{HOST1}}`, `{{HOST2}}` and `{{HOST3}}` stand for the three origins (other hosts get processes of their own).
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

from tests.site.bulk import BULK_ROUTES
from tests.site.captcha import CAPTCHA_ROUTES
from tests.site.generated import pdf, rows_page, shelf_page
from tests.site.market import MARKET_ROUTES

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
PAGES = Path(__file__).parent / "pages"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


@dataclass(frozen=True)
class Seen:
    """One request the site got."""

    method: str
    host: str
    path: str
    body: bytes


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that hang up: browsers do."""


class Site:
    """The running site; `requests` is what it was asked, oldest first."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[Seen] = []
        self.closing = threading.Event()
        self._servers: list[_Server] = []
        self.port = self._bind(port)

    def url(self, path: str = "/", host: int = 1) -> str:
        """Return the address of a path on host 1, 2 or 3."""
        return f"http://{HOSTS[host - 1]}:{self.port}{path}"

    def paths(self) -> list[str]:
        """Return the paths that were asked for."""
        return [seen.path for seen in self.requests]

    def __enter__(self) -> Self:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _bind(self, wanted: int) -> int:
        for _ in range(20):
            handler = _handler_for(self)
            first = _Server((HOSTS[0], wanted), handler)
            port = first.server_address[1]
            self._servers = [first]
            try:
                self._servers += [_Server((host, port), handler) for host in HOSTS[1:]]
            except OSError:
                for server in self._servers:
                    server.server_close()
                continue
            return port
        raise OSError("no port is free on all hosts of the test site")


def _handler_for(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        pass

    Handler.site = site
    return Handler


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def log_message(self, *args: Any) -> None:
        pass

    def _serve(self, body: bytes) -> None:
        self.site.requests.append(Seen(self.command, self.headers.get("Host", "").split(":")[0], self.path, body))
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        route = ROUTES.get(parts.path)
        try:
            if route is not None:
                route(self, query, body)
            else:
                self._file(parts.path)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _file(self, path: str) -> None:
        file = (PAGES / path.lstrip("/")).resolve()
        if not file.is_relative_to(PAGES) or not file.is_file():
            self.answer("<title>Not found</title><h1>Not found</h1>", status=404)
            return
        kind = TYPES.get(file.suffix, "application/octet-stream")
        data = file.read_bytes()
        if file.suffix in (".html", ".js", ".json"):
            for number, host in enumerate(HOSTS, 1):
                data = data.replace(b"{{HOST%d}}" % number, f"http://{host}:{self.site.port}".encode())
        self.answer(data, kind)

    def answer(self, data: str | bytes, kind: str = TYPES[".html"], status: int = 200, **headers: str) -> None:
        """Send a whole answer; underscores in header names become hyphens."""
        raw = data.encode() if isinstance(data, str) else data
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Cache-Control", "no-store")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)


Query = dict[str, str]


def _index(handler: _Handler, query: Query, body: bytes) -> None:
    handler.answer("<!doctype html><title>Test site</title><h1>Test site</h1><p>It works.</p>")


def _slow(handler: _Handler, query: Query, body: bytes) -> None:
    """Answer after `seconds` with `text`, as HTML or JSON (`json=1`)."""
    handler.site.closing.wait(float(query.get("seconds", "1")))
    text = query.get("text", "slow")
    if "json" in query:
        handler.answer(json.dumps({"text": text}), TYPES[".json"])
    else:
        handler.answer(f"<!doctype html><title>Slow</title><p>{text}</p>")


def _never(handler: _Handler, query: Query, body: bytes) -> None:
    """Take the request and never answer."""
    handler.site.closing.wait(60)
    handler.close_connection = True


def _never_ends(handler: _Handler, query: Query, body: bytes) -> None:
    """Send the beginning of a page and never its end."""
    handler.send_response(200)
    handler.send_header("Content-Type", TYPES[".html"])
    handler.end_headers()
    handler.wfile.write(
        b"<!doctype html><title>Endless</title><h1>The beginning</h1><button>Usable</button>" + b" " * 4096
    )
    handler.wfile.flush()
    _never(handler, query, body)


def _arriving(handler: _Handler, query: Query, body: bytes) -> None:
    """Send the first half of a list of links at once and the rest 2 s later."""
    handler.send_response(200)
    handler.send_header("Content-Type", TYPES[".html"])
    handler.end_headers()
    links = [f'<li><a href="/bulk/item?n={number}">Lamp {number}</a></li>' for number in range(1, 101)]
    handler.wfile.write(("<!doctype html><title>Arriving</title><ul>" + "".join(links[:50])).encode())
    handler.wfile.flush()
    handler.site.closing.wait(2)
    handler.wfile.write("".join(links[50:]).encode())
    handler.close_connection = True


def _redirect(handler: _Handler, query: Query, body: bytes) -> None:
    """Redirect to `to` with status `status`."""
    handler.answer("", status=int(query.get("status", "302")), Location=query["to"])


def _logged_out(handler: _Handler, query: Query, body: bytes) -> None:
    handler.answer("<title>Logged out</title><h1>Logged out</h1>", Clear_Site_Data='"storage"')


def _sign_in(handler: _Handler, query: Query, body: bytes) -> None:
    script = "<script>localStorage.setItem('member', 'ada')</script>"
    handler.answer(f"<title>Welcome</title><h1>Welcome</h1>{script}", Set_Cookie="member=ada; Path=/; Max-Age=86400")


def _sign_out(handler: _Handler, query: Query, body: bytes) -> None:
    script = "<script>localStorage.removeItem('member')</script>"
    handler.answer(f"<title>Goodbye</title><h1>Goodbye</h1>{script}", Set_Cookie="member=; Path=/; Max-Age=0")


def _account(handler: _Handler, query: Query, body: bytes) -> None:
    """Say who is signed in, as the server and as the page know it."""
    member = "ada" if "member=ada" in handler.headers.get("Cookie", "") else "nobody"
    script = "document.body.append(`The page knows ${localStorage.getItem('member') || 'nobody'}.`)"
    handler.answer(f"<title>Account</title><h1>The server knows {member}.</h1><script>{script}</script>")


def _meeting(handler: _Handler, query: Query, body: bytes) -> None:
    """Say that everybody is here once two guests have come into the room."""
    here = {seen.path for seen in handler.site.requests if seen.path.startswith(f"/meeting?room={query['room']}&")}
    words = "Everybody is here." if len(here) > 1 else "Somebody is missing."
    handler.answer(f"<meta http-equiv=refresh content=1><title>Meeting</title><h1>{words}</h1>")


def _leaving(handler: _Handler, query: Query, body: bytes) -> None:
    handler.answer(f"<title>Leaving</title><script>location.replace({json.dumps(query['to'])})</script>")


def _storing(handler: _Handler, query: Query, body: bytes) -> None:
    handler.answer("<title>Storing</title><script>localStorage.setItem('stored', '1')</script>")


def _status(handler: _Handler, query: Query, body: bytes) -> None:
    """Answer with the status `code`."""
    handler.answer(f"<title>{query['code']}</title><h1>Status {query['code']}</h1>", status=int(query["code"]))


def _attachment(handler: _Handler, query: Query, body: bytes) -> None:
    """Answer with a file to download, called `name`, holding `text`; `seconds` delays its second half."""
    text = query.get("text", "a,b\n1,2\n").encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    name = query.get("name", "report.csv")
    plain = f'filename="{name}"' if name.isascii() else f"filename*=UTF-8''{quote(name)}"
    handler.send_header("Content-Disposition", f"attachment; {plain}")
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    half = len(text) // 2
    handler.wfile.write(text[:half])
    handler.wfile.flush()
    handler.site.closing.wait(float(query.get("seconds", "0")))
    handler.wfile.write(text[half:])


def _pdf(handler: _Handler, query: Query, body: bytes) -> None:
    """Answer with a PDF that says `text`, as an attachment with `attachment=1`."""
    name = "attachment" if "attachment" in query else "inline"
    disposition = f'{name}; filename="invoice.pdf"'
    handler.answer(pdf(query.get("text", "A page")), TYPES[".pdf"], Content_Disposition=disposition)


def _broken(handler: _Handler, query: Query, body: bytes) -> None:
    """Begin a file and hang up."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.send_header("Content-Disposition", 'attachment; filename="broken.bin"')
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b"x" * 2000)
    handler.wfile.flush()
    handler.close_connection = True
    handler.connection.close()


def _rows(handler: _Handler, query: Query, body: bytes) -> None:
    """Answer with a page of about `nodes` elements."""
    handler.answer(rows_page(int(query.get("nodes", "1000"))))


def _shelf(handler: _Handler, query: Query, body: bytes) -> None:
    """Answer with the page of an `item`, which links to the next."""
    handler.answer(shelf_page(int(query["item"])))


def _echo(handler: _Handler, query: Query, body: bytes) -> None:
    """Show what was sent."""
    fields = parse_qs(body.decode(errors="replace"), keep_blank_values=True) if body else query
    rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in fields.items())
    handler.answer(f"<!doctype html><title>Received</title><h1>Received</h1><table>{rows}</table>")


ROUTES: dict[str, Callable[[_Handler, Query, bytes], None]] = {
    "/": _index,
    "/slow": _slow,
    "/never": _never,
    "/never-ends": _never_ends,
    "/arriving": _arriving,
    "/redirect": _redirect,
    "/status": _status,
    "/logged-out": _logged_out,
    "/sign-in": _sign_in,
    "/sign-out": _sign_out,
    "/account": _account,
    "/meeting": _meeting,
    "/leaving": _leaving,
    "/storing": _storing,
    "/attachment": _attachment,
    "/pdf": _pdf,
    "/broken": _broken,
    "/rows": _rows,
    "/shelf": _shelf,
    "/echo": _echo,
    **CAPTCHA_ROUTES,
    **BULK_ROUTES,
    **MARKET_ROUTES,
}
