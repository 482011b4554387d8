"""Google's box or invisible check in its Enterprise edition, which may carry a secret of the page (`s`)."""

from decimal import Decimal
from typing import Any

from appliance.captcha import recaptcha
from appliance.captcha.base import Captcha, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return the first such widget of a document."""
    return recaptcha.find_first(traces, lambda widget: widget.is_enterprise and not widget.is_v3)


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    task = recaptcha.token_task("ReCaptchaV2EnterpriseTaskProxyLess", captcha, url)
    if "s" in captcha.parameters:
        task["enterprisePayload"] = {"s": captcha.parameters["s"]}
    return task


RECAPTCHA_V2_ENTERPRISE = Strategy(
    kind="recaptcha_v2_enterprise",
    title="reCAPTCHA v2 Enterprise",
    clues=recaptcha.CLUES,
    find=find,
    price_usd=Decimal("0.001"),
    required=recaptcha.SITE_KEY,
    build=build,
    redeem=recaptcha.redeem_response,
)
