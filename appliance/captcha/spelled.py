"""What an address or a script of a page spells out: the query by name, the texts in its objects."""

import re
from urllib.parse import parse_qs, urlsplit


def query_of(address: str) -> dict[str, str]:
    """Return the query of an address by name."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(address).query).items()}


def named_in(source: str, name: str) -> str:
    """Return what a script gives for a name in an object: `gt: "…"`, "" where it is not a plain text."""
    match = re.search(rf"\b{name}['\"]?\s*:\s*['\"]([^'\"]+)['\"]", source)
    return match[1] if match else ""
