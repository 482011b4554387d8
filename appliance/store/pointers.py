"""Places in a JSON document, by JSON pointer (RFC 6901)."""

from collections.abc import Iterator
from typing import Any, cast


def escape(name: str) -> str:
    """Return a name as it stands in a pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that holds no others, in order, with its pointer."""
    if isinstance(value, dict):
        for name, field in cast("dict[str, Any]", value).items():
            yield from leaves(field, f"{pointer}/{escape(name)}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from leaves(item, f"{pointer}/{number}")
    else:
        yield pointer, value
