"""Google's box to be ticked: a token for its hidden field and its callback."""

from functools import partial

from appliance.captcha import recaptcha

RECAPTCHA_V2 = recaptcha.make_strategy(
    "recaptcha_v2",
    "reCAPTCHA v2",
    lambda widget: not (widget.is_v3 or widget.is_invisible or widget.is_enterprise),
    price_usd="0.0008",
    build=partial(recaptcha.token_task, "ReCaptchaV2TaskProxyLess"),
    redeem=recaptcha.redeem_response,
)
