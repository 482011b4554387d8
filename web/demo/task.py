"""The demonstration task: what a fresh installation does first, without a key.

It shows the whole way of structured data: the list of the shop, the pages behind it, and a field that no page states.
"""

from typing import Any

DEMO_PATH = "/demo/"

_WARE: dict[str, Any] = {
    "type": "object",
    "title": "Ware",
    "properties": {
        "name": {"type": "string", "description": "Name of the article"},
        "maker": {"type": "string", "description": "Brand or maker"},
        "sku": {"type": "string", "description": "Article number"},
        "price": {"type": "number", "description": "Price without currency sign"},
        "currency": {"type": "string", "description": "Currency code"},
        "weight_kg": {"type": "number", "description": "Weight in kilograms"},
        "description": {"type": "string"},
        "url": {"type": "string", "format": "uri", "description": "Address of the article's page"},
        "guarantee_years": {"type": ["integer", "null"], "description": "Guarantee in years, null if not stated"},
    },
    "required": ["name", "maker", "sku", "price", "currency", "url", "guarantee_years"],
    "additionalProperties": False,
}

DEMO_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Wares",
    "properties": {"wares": {"type": "array", "items": _WARE}},
    "required": ["wares"],
    "additionalProperties": False,
}


def describe_task(base_url: str) -> str:
    """Return the words of the task; its first line is the goal, its address the start."""
    return (
        "Record every ware of the shop as its own page describes it.\n"
        f"Open {base_url}{DEMO_PATH} and read of each ware what it is, who makes it and what it costs."
    )
