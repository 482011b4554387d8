"""GeeTest's version 4: five values for the form."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from appliance.captcha import geetest
from appliance.captcha.base import Captcha, Clues, Redemption, Strategy, Traces
from appliance.captcha.spelled import named_in, query_of

HOLDER = ".geetest_captcha"
FIELDS = ("captcha_id", "lot_number", "pass_token", "gen_time", "captcha_output")


def find(traces: Traces) -> Captcha | None:
    """Return the GeeTest of version 4 in a document."""
    ids = [named_in(source, "captchaId") for source in traces.sources]
    ids += [query_of(address).get("captcha_id", "") for address in traces.addresses]
    known = next((one for one in ids if one), "")
    if not (known or traces.sources or traces.matching(HOLDER)):
        return None
    told = {"captchaId": known} if known else {}
    return Captcha(traces.document, told, objects=geetest.objects_of(traces))


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    return {"type": "GeeTestTaskProxyLess", "websiteURL": url, "captchaId": captcha.parameters["captchaId"]}


def redeem(captcha: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return how the five values get into the page."""
    fields = geetest.texts(solution, FIELDS)
    return geetest.redemption(
        captcha, {**fields, "captcha_id": fields["captcha_id"] or captcha.parameters["captchaId"]}, HOLDER
    )


GEETEST_V4 = Strategy(
    kind="geetest_v4",
    title="GeeTest v4",
    clues=Clues(
        elements=(HOLDER,),
        addresses=(r"[?&]captcha_id=\w+",),
        sources=(r"initGeetest4\s*\(",),
        objects=(geetest.METHOD,),
    ),
    find=find,
    price_usd=Decimal("0.0012"),
    required={"captchaId": "its captcha id"},
    build=build,
    redeem=redeem,
)
