"""A shop on two ports: a listing with a panel of the other port in it, pages with and without JSON-LD, a dead link."""

import contextlib
import json
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAKERS = {1: "Halden", 2: "Quay", 3: "Ostra", 4: "Halden", 5: "Nordlicht"}
"""The maker of each ware; those of odd numbers have JSON-LD, 4 and 5 are listed in the panel only."""
DEAD = 6


def price(number: int) -> float:
    """Return the price of a ware."""
    return 10.5 + number


@contextlib.contextmanager
def serve_shop() -> Generator[str]:
    """Serve the shop and yield the address of its listing."""
    with _serve(lambda path: _wares(path) or _panel(path)) as other, _serve(lambda path: _listing(path, other)) as url:
        yield url


def _listing(path: str, other: str) -> str | None:
    if path == "/":
        links = "".join(f"<li><a href='/ware/{number}'>Ware {number}</a></li>" for number in (1, 2, 3, DEAD))
        return f"<title>Wares</title><h1>Wares</h1><ul>{links}</ul><iframe src='{other}panel' width=600></iframe>"
    return _wares(path)


def _panel(path: str) -> str | None:
    links = "".join(f"<li><a href='/ware/{number}'>Ware {number}</a></li>" for number in (4, 5))
    return f"<title>More</title><ul>{links}</ul>" if path == "/panel" else None


def _wares(path: str) -> str | None:
    _, _, number = path.partition("/ware/")
    if number not in map(str, MAKERS):
        return None
    name, maker, cost = f"Ware {number}", MAKERS[int(number)], f"{price(int(number)):.2f}"
    shown = f"<title>{name}</title><h1>{name}</h1><p>It is well made, and much may be said of it: {'so ' * 90}</p>"
    if int(number) % 2 == 0:
        return f"{shown}<dl><dt>Maker</dt><dd>{maker}</dd><dt>Price</dt><dd>{cost} EUR</dd></dl>"
    offer = {"@type": "Offer", "price": cost, "priceCurrency": "EUR"}
    stated = {"@context": "https://schema.org", "@type": "Product", "name": name, "manufacturer": maker}
    block = json.dumps({**stated, "offers": offer})
    return f"{shown}<script type='application/ld+json'>{block}</script><p>Made by {maker}, {cost} EUR.</p>"


@contextlib.contextmanager
def _serve(page_of: Callable[[str], str | None]) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = page_of(self.path)
            body = (page or "<title>Gone</title><h1>There is no such page.</h1>").encode()
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
