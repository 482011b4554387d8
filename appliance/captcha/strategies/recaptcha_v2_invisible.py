"""Google's check without a box: the page asks for it, and its callback gets the token."""

from decimal import Decimal
from functools import partial

from appliance.captcha import recaptcha
from appliance.captcha.base import Captcha, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return the first such widget of a document."""
    return recaptcha.find_first(
        traces, lambda widget: widget.is_invisible and not (widget.is_v3 or widget.is_enterprise)
    )


RECAPTCHA_V2_INVISIBLE = Strategy(
    kind="recaptcha_v2_invisible",
    title="invisible reCAPTCHA v2",
    clues=recaptcha.CLUES,
    find=find,
    price_usd=Decimal("0.0008"),
    required=recaptcha.SITE_KEY,
    build=partial(recaptcha.token_task, "ReCaptchaV2TaskProxyLess"),
    redeem=recaptcha.redeem_response,
)
