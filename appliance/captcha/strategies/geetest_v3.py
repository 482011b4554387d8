"""GeeTest's slider of version 3: a challenge of its own for each visit, three values for the form."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from appliance.captcha import geetest
from appliance.captcha.base import Captcha, Clues, Redemption, Strategy, Traces
from appliance.captcha.spelled import named_in, query_of

HOLDER = ".geetest_form, .geetest_holder"
FIELD = "[name='geetest_validate']"


def find(traces: Traces) -> Captcha | None:
    """Return the GeeTest of version 3 in a document."""
    told: dict[str, str] = {}
    for source in traces.sources:
        _note(told, {name: named_in(source, name) for name in ("gt", "challenge")})
    for element in traces.matching("[data-gt]"):
        _note(told, {name: element.attributes.get(f"data-{name}", "") for name in ("gt", "challenge")})
    # The newest address has the challenge that counts.
    for address in traces.addresses:
        _note(told, query_of(address))
    is_here = told or traces.sources or traces.matching(HOLDER, FIELD)
    return Captcha(traces.document, told, objects=geetest.objects_of(traces)) if is_here else None


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    told = captcha.parameters
    task = {"type": "GeeTestTaskProxyLess", "websiteURL": url, "gt": told["gt"], "challenge": told["challenge"]}
    return {**task, "geetestApiServerSubdomain": told["api_server"]} if "api_server" in told else task


def redeem(captcha: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return how challenge, validation and code get into the page."""
    validate = str(solution.get("validate", ""))
    fields = {
        "geetest_challenge": str(solution.get("challenge") or captcha.parameters["challenge"]),
        "geetest_validate": validate,
        "geetest_seccode": str(solution.get("seccode") or f"{validate}|jordan"),
    }
    return geetest.redemption(captcha, fields, HOLDER)


def _note(told: dict[str, str], found: Mapping[str, str]) -> None:
    told.update({name: found[name] for name in ("gt", "challenge", "api_server") if found.get(name)})


GEETEST_V3 = Strategy(
    kind="geetest_v3",
    title="GeeTest v3",
    clues=Clues(
        elements=(HOLDER, FIELD, "[data-gt]"),
        addresses=(r"\.php\?.*\bgt=\w+",),
        sources=(r"initGeetest\s*\(",),
        objects=(geetest.METHOD,),
    ),
    find=find,
    price_usd=Decimal("0.0012"),
    required={"gt": "its gt", "challenge": "its challenge"},
    build=build,
    redeem=redeem,
)
