"""Finds JSON objects in what models write around them."""

import json
from collections.abc import Iterator
from typing import Any


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, in order, none that lies inside another; what is no JSON is passed over."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)
