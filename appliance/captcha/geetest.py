"""What a page shows of GeeTest: parameters in addresses and scripts, and the objects it keeps its captchas in."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from appliance.captcha.base import Answers, Captcha, Fill, Redemption, Traces

METHOD = "getValidate"
"""By what an object of GeeTest is known, whatever the page calls it."""


def query_of(address: str) -> dict[str, str]:
    """Return the query of an address by name."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(address).query).items()}


def named_in(source: str, name: str) -> str:
    """Return what a script gives for a name in an object: `gt: "…"`, "" where it is not a plain text."""
    match = re.search(rf"\b{name}['\"]?\s*:\s*['\"]([^'\"]+)['\"]", source)
    return match[1] if match else ""


def objects_of(traces: Traces) -> tuple[str, ...]:
    """Return the names of the objects in which the page keeps its captchas."""
    return traces.objects.get(METHOD, ())


def redemption(captcha: Captcha, fields: Mapping[str, str], holder: str) -> Redemption:
    """Return how the values get into the page: fields of their names, objects that answer with them, listeners."""
    return Redemption(
        fills=tuple(Fill(f"[name='{name}']", value, holder, name) for name, value in fields.items()),
        answers=tuple(Answers((name, METHOD), dict(fields)) for name in captcha.objects),
        succeeds=captcha.objects,
    )


def texts(solution: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    """Return the named values of a solution as texts."""
    return {name: str(solution.get(name, "")) for name in names}
