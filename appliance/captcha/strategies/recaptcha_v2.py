"""Google's box to be ticked: a token for its hidden field and its callback."""

from decimal import Decimal
from functools import partial

from appliance.captcha import recaptcha
from appliance.captcha.base import Captcha, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return the first such widget of a document."""
    return recaptcha.find_first(
        traces, lambda widget: not (widget.is_v3 or widget.is_invisible or widget.is_enterprise)
    )


RECAPTCHA_V2 = Strategy(
    kind="recaptcha_v2",
    title="reCAPTCHA v2",
    clues=recaptcha.CLUES,
    find=find,
    price_usd=Decimal("0.0008"),
    required=recaptcha.SITE_KEY,
    build=partial(recaptcha.token_task, "ReCaptchaV2TaskProxyLess"),
    redeem=recaptcha.redeem_response,
)
