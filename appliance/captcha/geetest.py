"""What GeeTest's versions have in common: the objects that a page keeps them in, and how their values get into it."""

from collections.abc import Mapping
from typing import Any

from appliance.captcha.base import Captcha, Fill, Override, Redemption, Traces

METHOD = "getValidate"
"""By what an object of GeeTest is known, whatever the page calls it."""


def objects_of(traces: Traces) -> tuple[str, ...]:
    """Return the names of the objects in which the page keeps its captchas."""
    return traces.objects.get(METHOD, ())


def redemption(captcha: Captcha, fields: Mapping[str, str], holder: str) -> Redemption:
    """Return how the values get into the page: fields of their names, objects that answer with them, listeners."""
    return Redemption(
        fills=tuple(Fill(f"[name='{name}']", value, holder, name) for name, value in fields.items()),
        overrides=tuple(Override((name, METHOD), dict(fields)) for name in captcha.objects),
        succeeds=captcha.objects,
    )


def texts(solution: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    """Return the named values of a solution as texts."""
    return {name: str(solution.get(name, "")) for name in names}
