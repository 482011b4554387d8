"""Google's score in its Enterprise edition."""

from decimal import Decimal
from functools import partial

from appliance.captcha import recaptcha
from appliance.captcha.base import Captcha, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return the first such widget of a document."""
    return recaptcha.find_first(traces, lambda widget: widget.is_v3 and widget.is_enterprise)


RECAPTCHA_V3_ENTERPRISE = Strategy(
    kind="recaptcha_v3_enterprise",
    title="reCAPTCHA v3 Enterprise",
    clues=recaptcha.CLUES,
    find=find,
    price_usd=Decimal("0.003"),
    required=recaptcha.SITE_KEY,
    build=partial(recaptcha.score_task, "ReCaptchaV3EnterpriseTaskProxyLess"),
    redeem=recaptcha.redeem_score,
)
