"""A shop on two ports: a listing with a panel of the other port in it, pages with and without JSON-LD, a dead link."""

import contextlib
import json
from collections.abc import Generator

from tests.loopback import serve_pages

MAKERS = {1: "Halden", 2: "Quay", 3: "Ostra", 4: "Halden", 5: "Nordlicht"}
"""The maker of each ware; those of odd numbers have JSON-LD, 4 and 5 are listed in the panel only."""
DEAD = 6


def price(number: int) -> float:
    """Return the price of a ware."""
    return 10.5 + number


@contextlib.contextmanager
def serve_shop() -> Generator[str]:
    """Serve the shop and yield the address of its listing."""
    with (
        serve_pages(lambda path: _encoded(_wares(path) or _panel(path))) as other,
        serve_pages(lambda path: _encoded(_listing(path, other))) as url,
    ):
        yield url


def _encoded(page: str | None) -> bytes | None:
    return None if page is None else page.encode()


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
