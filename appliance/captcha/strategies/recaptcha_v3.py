"""Google's score: the page asks for a token when it is about to send something."""

from functools import partial

from appliance.captcha import recaptcha

RECAPTCHA_V3 = recaptcha.make_strategy(
    "recaptcha_v3",
    "reCAPTCHA v3",
    lambda widget: widget.is_v3 and not widget.is_enterprise,
    price_usd="0.001",
    build=partial(recaptcha.score_task, "ReCaptchaV3TaskProxyLess"),
    redeem=recaptcha.redeem_score,
)
