"""The answer store: writes checked as they happen, with evidence of many pages, and what they cover and come from."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from appliance.store.answers import AnswerStore
from appliance.store.evidence import Evidence, Sighting
from appliance.store.links import Links
from appliance.store.schema import AnswerSchema
from ops.benchmarks.measures import Figure

WRITES, ROWS, PAGES, REPEATS = 1_000, 2_000, 100, 5
FIELDS: dict[str, Any] = {
    "name": {"type": "string"},
    "price": {"type": "number"},
    "currency": {"enum": ["EUR", "USD", "GBP"]},
    "productUrl": {"type": "string"},
    "sku": {"type": "string"},
    "inStock": {"type": "boolean"},
    "rating": {"type": ["number", "null"]},
    "description": {"type": "string"},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "object", "properties": FIELDS, "required": [*FIELDS]}}
    },
    "required": ["items"],
}


def measure_store() -> list[Figure]:
    """Return what writes, coverage and provenance take: seconds for all writes, milliseconds for the others."""
    AnswerStore(AnswerSchema.read(SCHEMA)).add_item(_item(0))
    writes = min(_timed(_write_all, WRITES)[0] for _ in range(REPEATS))
    _, store = _timed(_write_all, ROWS)
    coverage = min(_timed(store.coverage)[0] for _ in range(REPEATS * 5))
    line = min(_timed(lambda: store.coverage_line)[0] for _ in range(REPEATS * 5))
    tracing, found = _timed(store.provenance)
    assert len(found) > ROWS * 5, len(found)
    return [
        Figure("1,000 writes", writes, "s", limit=0.5),
        Figure(f"coverage of {ROWS} rows", coverage * 1000, "ms", limit=5),
        Figure(f"coverage line of {ROWS} rows", line * 1000, "ms"),
        Figure(f"{len(found)} values traced among {PAGES} pages", tracing * 1000, "ms"),
    ]


def _write_all(count: int = WRITES) -> AnswerStore:
    store = AnswerStore(AnswerSchema.read(SCHEMA), _read_pages(), Links())
    for number in range(count):
        store.add_item(_item(number))
    return store


def _read_pages() -> Evidence:
    """Return evidence of listing pages of about 17,000 characters each, which state all the items."""
    evidence = Evidence()
    for page in range(PAGES):
        numbers = range(page * ROWS // PAGES, (page + 1) * ROWS // PAGES)
        text = "\n".join(f"{_name(n)} €{n + 0.5:,.2f} EUR SKU-{n:05} in stock {_describe(n)}" for n in numbers)
        links = frozenset(_url(n) for n in numbers)
        evidence.see(Sighting(f"https://shop.example/list/{page}", text, datetime.now(UTC), links, page))
    return evidence


def _item(number: int) -> dict[str, Any]:
    item = {
        "name": _name(number),
        "price": number + 0.5,
        "currency": "EUR",
        "productUrl": _url(number),
        "sku": f"SKU-{number:05}",
        "inStock": True,
        "rating": None,
        "description": _describe(number),
        "_page": f"https://shop.example/list/{number * PAGES // ROWS}",
    }
    return {name: value for name, value in item.items() if name != "sku" or number % 3}


def _name(number: int) -> str:
    return f"Brass lamp number {number}"


def _url(number: int) -> str:
    return f"https://shop.example/wares/{number}"


def _describe(number: int) -> str:
    return f"A lamp of solid brass, number {number} of its kind, with a shade of linen. " + "It gives light. " * 40


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - started, result
