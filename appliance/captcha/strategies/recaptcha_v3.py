"""Google's score: the page asks for a token when it is about to send something."""

from decimal import Decimal
from functools import partial

from appliance.captcha import recaptcha
from appliance.captcha.base import Captcha, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return the first such widget of a document."""
    return recaptcha.find_first(traces, lambda widget: widget.is_v3 and not widget.is_enterprise)


RECAPTCHA_V3 = Strategy(
    kind="recaptcha_v3",
    title="reCAPTCHA v3",
    clues=recaptcha.CLUES,
    find=find,
    price_usd=Decimal("0.001"),
    required=recaptcha.SITE_KEY,
    build=partial(recaptcha.score_task, "ReCaptchaV3TaskProxyLess"),
    redeem=recaptcha.redeem_score,
)
