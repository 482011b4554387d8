"""Google's score in its Enterprise edition."""

from functools import partial

from appliance.captcha import recaptcha

RECAPTCHA_V3_ENTERPRISE = recaptcha.make_strategy(
    "recaptcha_v3_enterprise",
    "reCAPTCHA v3 Enterprise",
    lambda widget: widget.is_v3 and widget.is_enterprise,
    price_usd="0.003",
    build=partial(recaptcha.score_task, "ReCaptchaV3EnterpriseTaskProxyLess"),
    redeem=recaptcha.redeem_score,
)
