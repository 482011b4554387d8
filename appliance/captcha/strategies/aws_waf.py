"""The page that Amazon's WAF puts in front of a site: a token as a cookie, with which the page is loaded anew."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from appliance.captcha.base import Captcha, Clues, Redemption, Strategy, Traces

COOKIE = "aws-waf-token"
PROPERTIES = {"key": "awsKey", "iv": "awsIv", "context": "awsContext"}
PLACES = ("#challenge-container", "#captcha-container", "awswaf-captcha")


def find(traces: Traces) -> Captcha | None:
    """Return it when the document carries the WAF's properties, or its script with a place for a puzzle."""
    value = traces.values.get("gokuProps")
    given = cast("Mapping[str, Any]", value) if isinstance(value, dict) else None
    if given is None and not (traces.addresses and traces.matching(*PLACES)):
        return None
    told = {ours: str(given[theirs]) for theirs, ours in PROPERTIES.items() if given and given.get(theirs)}
    for address in traces.addresses:
        told["awsApiJs" if "jsapi" in address else "awsChallengeJS"] = address
    if all(name in told for name in PROPERTIES.values()) or (given is None and traces.addresses):
        told["complete"] = "yes"
    return Captcha(traces.document, told, is_interstitial=True)


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    told = {name: value for name, value in captcha.parameters.items() if name != "complete"}
    return {"type": "AntiAwsWafTaskProxyLess", "websiteURL": url, **told}


def redeem(_: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return the cookie that the WAF wants to see."""
    return Redemption(cookie=(COOKIE, str(solution.get("cookie", "")).removeprefix(f"{COOKIE}=")))


AWS_WAF = Strategy(
    kind="aws_waf",
    title="page of AWS WAF in front of the site",
    clues=Clues(elements=PLACES, addresses=(r"awswaf.*/(challenge|captcha|jsapi)[\w.]*\.js",), values=("gokuProps",)),
    find=find,
    price_usd=Decimal("0.002"),
    required={"complete": "its key, iv and context, or the address of its script"},
    build=build,
    redeem=redeem,
    sends_page=True,
)
