"""The demonstration task: what a fresh installation does first, without a key."""

from typing import Any

DEMO_PATH = "/demo/"

DEMO_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Ware",
    "properties": {
        "name": {"type": "string", "description": "Name of the article"},
        "maker": {"type": "string", "description": "Brand or maker"},
        "sku": {"type": "string", "description": "Article number"},
        "price": {"type": "number", "description": "Price without currency sign"},
        "currency": {"type": "string", "description": "Currency code"},
        "weight_kg": {"type": ["number", "null"], "description": "Weight in kilograms"},
        "description": {"type": "string"},
    },
    "required": ["name", "maker", "sku", "price", "currency"],
    "additionalProperties": False,
}


def describe_task(base_url: str) -> str:
    """Return the words of the task; its first line is the goal, its address the start."""
    return (
        "Record the brass anchor lamp as the shop describes it.\n"
        f"Open {base_url}{DEMO_PATH}wares/brass-anchor-lamp and read what it is, who makes it and what it costs."
    )
