"""Google's box or invisible check in its Enterprise edition, which may carry a secret of the page (`s`)."""

from typing import Any

from appliance.captcha import recaptcha
from appliance.captcha.base import Captcha


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    task = recaptcha.token_task("ReCaptchaV2EnterpriseTaskProxyLess", captcha, url)
    if "s" in captcha.parameters:
        task["enterprisePayload"] = {"s": captcha.parameters["s"]}
    return task


RECAPTCHA_V2_ENTERPRISE = recaptcha.make_strategy(
    "recaptcha_v2_enterprise",
    "reCAPTCHA v2 Enterprise",
    lambda widget: widget.is_enterprise and not widget.is_v3,
    price_usd="0.001",
    build=build,
    redeem=recaptcha.redeem_response,
)
