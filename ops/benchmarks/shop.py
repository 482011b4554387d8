"""A shop to extract from: one listing and its detail pages, each with JSON-LD; and what a right answer to it is."""

import json
from typing import Any

COUNT = 14
MAKERS = ("Nordlicht", "Halden", "Quay", "Ostra")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "lamps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "sku": {"type": "string"},
                    "brand": {"type": "string"},
                    "price": {"type": "number"},
                    "datePublished": {"type": "string", "format": "date"},
                    "description": {"type": "string"},
                    "url": {"type": "string", "format": "uri"},
                },
                "required": ["name", "sku", "brand", "price", "datePublished", "description", "url"],
            },
        }
    },
    "required": ["lamps"],
}
_STYLE = "<style>body{font:16px sans-serif;margin:24px}li{padding:4px}dt{font-weight:600}</style>"
_AROUND = (
    "<nav><a href='/'>Start</a> <a href='/help'>Help</a> <a href='/cart'>Basket</a></nav>",
    "<p>Free returns.</p>",
)


def lamp(number: int) -> dict[str, Any]:
    """Return the facts of one lamp, numbered from 1."""
    return {
        "name": f"Reading lamp No. {number}",
        "sku": f"RL-{2400 + 7 * number}",
        "brand": MAKERS[number % len(MAKERS)],
        "price": 24 + 3 * number + 0.5,
        "datePublished": f"2026-{1 + number % 12:02}-{10 + number}",
        "description": (
            f"Lamp No. {number} stands on a cast foot and turns on two joints. Its head gives {350 + 20 * number} "
            f"lumens of warm light, dimmed by a wheel on the cable of {1 + number % 3} metres. The shade is of "
            "spun aluminium, the joints are guaranteed for ten years, and every part can be bought and changed."
        ),
    }


def make_page(path: str) -> bytes:
    """Return the page of a path: the listing at /, a lamp at /lamp/N, else a page that says little."""
    _, _, number = path.partition("/lamp/")
    if path == "/":
        rows = "".join(_row(each) for each in range(1, COUNT + 1))
        return _page("Lamps", f"<h1>Lamps</h1><ul>{rows}</ul>")
    if number.isdigit() and 1 <= int(number) <= COUNT:
        return _detail(lamp(int(number)))
    return _page("Shop", f"<h1>{path.strip('/')[:20]}</h1><p>Nothing to see here.</p>")


def has_right_answer(output: Any, url: str) -> bool:
    """Whether the output is every lamp of the shop at that address, each value as the pages state it."""
    wanted = [{**lamp(number), "url": f"{url}lamp/{number}"} for number in range(1, COUNT + 1)]
    return bool(output == {"lamps": wanted})


def _row(number: int) -> str:
    facts = lamp(number)
    link = f"<a href='/lamp/{number}'>{facts['name']}</a>"
    return f"<li>{link} <i>{facts['brand']}</i> <b>{facts['price']:.2f} EUR</b> <button>Compare</button></li>"


def _detail(facts: dict[str, Any]) -> bytes:
    offer = {"@type": "Offer", "price": f"{facts['price']:.2f}", "priceCurrency": "EUR"}
    shown = {name: facts[name] for name in ("name", "sku", "datePublished", "description")}
    brand = {"@type": "Brand", "name": facts["brand"]}
    stated = {"@context": "https://schema.org", "@type": "Product", **shown, "brand": brand, "offers": offer}
    listed = "".join(f"<dt>{name}</dt><dd>{facts[key]}</dd>" for name, key in (("Brand", "brand"), ("Sku", "sku")))
    body = f"<h1>{facts['name']}</h1><p>{facts['description']}</p><dl>{listed}</dl><p>{facts['price']:.2f} EUR</p>"
    head = f"<script type='application/ld+json'>{json.dumps(stated)}</script>"
    return _page(facts["name"], f"{body}<p>Sent within two days, worldwide.</p>", head)


def _page(title: str, body: str, head: str = "") -> bytes:
    before, after = _AROUND
    start = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title>{_STYLE}{head}"
    return f"{start}<body>{before}<main>{body}</main><footer>{after}</footer></body></html>".encode()
