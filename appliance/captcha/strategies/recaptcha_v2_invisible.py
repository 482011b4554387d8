"""Google's check without a box: the page asks for it, and its callback gets the token."""

from functools import partial

from appliance.captcha import recaptcha

RECAPTCHA_V2_INVISIBLE = recaptcha.make_strategy(
    "recaptcha_v2_invisible",
    "invisible reCAPTCHA v2",
    lambda widget: widget.is_invisible and not (widget.is_v3 or widget.is_enterprise),
    price_usd="0.0008",
    build=partial(recaptcha.token_task, "ReCaptchaV2TaskProxyLess"),
    redeem=recaptcha.redeem_response,
)
