"""A shop that was read: the schema of its wares, and evidence of its pages."""

from datetime import UTC, datetime
from typing import Any

from appliance.store.answers import AnswerStore
from appliance.store.evidence import Evidence, Sighting
from appliance.store.links import Links
from appliance.store.schema import AnswerSchema

LIST = "https://shop.example/wares"
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def ware_url(number: int) -> str:
    return f"{LIST}/{number}"


WARE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string", "enum": ["EUR", "USD"]},
        "productUrl": {"type": "string"},
        "imageUrl": {"type": ["string", "null"]},
        "rating": {"type": ["number", "null"]},
        "released": {"type": "string", "format": "date"},
        "description": {"type": "string"},
    },
    "required": ["name", "price", "rating"],
    "additionalProperties": False,
}
WARES: dict[str, Any] = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": WARE}, "total": {"type": "integer"}, "shop": {"type": "string"}},
    "required": ["items", "total"],
}


def make_store(schema: dict[str, Any] | None = None, evidence: Evidence | None = None) -> AnswerStore:
    return AnswerStore(AnswerSchema.read(schema or WARES), evidence, Links())


def list_of(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the schema of a list of items with these fields."""
    item = {"type": "object", "properties": fields, **more}
    return {"type": "object", "properties": {"items": {"type": "array", "items": item}}, "required": ["items"]}


def see(evidence: Evidence, url: str, text: str, *links: str, step: int = 1) -> None:
    evidence.see(Sighting(url, text, AT, frozenset(links), step, f"001-{step:04}.jpg"))


def read_shop(wares: int = 3) -> Evidence:
    """Return evidence of the list and of the pages of so many wares."""
    evidence = Evidence()
    urls = [ware_url(number) for number in range(9)]
    see(evidence, LIST, "Our wares: Lamp 0 Lamp 1 Lamp 2 Lamp 3 Lamp 4", *urls)
    for number in range(wares):
        text = f"Lamp {number}\nPrice: {number + 10},50 EUR\nReleased 5 May 202{number}\nA lamp of brass."
        see(evidence, ware_url(number), text, f"https://cdn.example/{number}.jpg", step=number + 2)
    return evidence
