"""MTCaptcha: a verified token for its hidden field and its callback."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from appliance.captcha.base import Call, Captcha, Clues, Fill, Override, Path, Redemption, Strategy, Traces
from appliance.captcha.spelled import query_of

HOLDER = ".mtcaptcha"
FIELD = "mtcaptcha-verifiedtoken"
CONFIG = "mtcaptchaConfig"


def find(traces: Traces) -> Captcha | None:
    """Return the MTCaptcha of a document."""
    value = traces.values.get(CONFIG)
    config: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
    keys: list[Any] = [config.get("sitekey"), *(query_of(address).get("sitekey") for address in traces.addresses)]
    keys += [query_of(address).get("sk") for address in traces.addresses]
    holders = traces.matching(HOLDER, f"[name='{FIELD}']")
    keys += [holder.attributes.get("data-sitekey") for holder in holders]
    key = next((one for one in keys if isinstance(one, str) and one), "")
    if not (key or holders):
        return None
    callback = config.get("verifiedCallback")
    callbacks: tuple[Path, ...] = ()
    if isinstance(callback, str):
        callbacks = (tuple(callback.split(".")),)
    elif callback:
        callbacks = ((CONFIG, "verifiedCallback"),)
    return Captcha(traces.document, {"websiteKey": key} if key else {}, callbacks)


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    return {"type": "MtCaptchaTaskProxyLess", "websiteURL": url, "websiteKey": captcha.parameters["websiteKey"]}


def redeem(captcha: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return how the token gets into the page; its callback is given the state of the widget."""
    token = str(solution.get("token", ""))
    state = {"isVerified": True, "verifiedToken": token, "statusCode": 201, "statusDesc": "valid-token"}
    return Redemption(
        fills=(Fill(f"[name='{FIELD}']", token, HOLDER, FIELD),),
        overrides=(Override(("mtcaptcha", "getVerifiedToken"), token),),
        calls=tuple(Call(path, (state,)) for path in captcha.callbacks),
    )


MTCAPTCHA = Strategy(
    kind="mtcaptcha",
    title="MTCaptcha",
    clues=Clues(
        elements=(HOLDER, f"[name='{FIELD}']"),
        addresses=(r"[?&](sitekey|sk)=MTPublic-",),
        values=(CONFIG,),
    ),
    find=find,
    price_usd=Decimal("0.002"),
    required={"websiteKey": "its site key"},
    build=build,
    redeem=redeem,
)
