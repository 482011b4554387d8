"""Every kind of captcha that is known, in the order in which a page is searched for them."""

from collections.abc import Sequence

from appliance.captcha.base import Recognised, Strategy, Traces
from appliance.captcha.strategies.aws_grid import AWS_GRID
from appliance.captcha.strategies.aws_waf import AWS_WAF
from appliance.captcha.strategies.cloudflare_page import CLOUDFLARE_PAGE
from appliance.captcha.strategies.datadome import DATADOME
from appliance.captcha.strategies.geetest_v3 import GEETEST_V3
from appliance.captcha.strategies.geetest_v4 import GEETEST_V4
from appliance.captcha.strategies.hcaptcha import HCAPTCHA
from appliance.captcha.strategies.image_text import IMAGE_TEXT
from appliance.captcha.strategies.mtcaptcha import MTCAPTCHA
from appliance.captcha.strategies.recaptcha_grid import RECAPTCHA_GRID
from appliance.captcha.strategies.recaptcha_v2 import RECAPTCHA_V2
from appliance.captcha.strategies.recaptcha_v2_enterprise import RECAPTCHA_V2_ENTERPRISE
from appliance.captcha.strategies.recaptcha_v2_invisible import RECAPTCHA_V2_INVISIBLE
from appliance.captcha.strategies.recaptcha_v3 import RECAPTCHA_V3
from appliance.captcha.strategies.recaptcha_v3_enterprise import RECAPTCHA_V3_ENTERPRISE
from appliance.captcha.strategies.turnstile import TURNSTILE

STRATEGIES: tuple[Strategy, ...] = (
    AWS_WAF,
    CLOUDFLARE_PAGE,
    DATADOME,
    TURNSTILE,
    RECAPTCHA_V2_ENTERPRISE,
    RECAPTCHA_V2,
    RECAPTCHA_V2_INVISIBLE,
    GEETEST_V4,
    GEETEST_V3,
    MTCAPTCHA,
    IMAGE_TEXT,
    RECAPTCHA_V3_ENTERPRISE,
    RECAPTCHA_V3,
    HCAPTCHA,
    RECAPTCHA_GRID,
    AWS_GRID,
)


def recognise(shown: Sequence[tuple[Strategy, Traces]]) -> list[Recognised]:
    """Return the captchas in the traces that were taken for each strategy, the one to begin with first.

    What stands in front of the page comes first, then what can be solved and tells all that is needed for it.
    """
    found = [
        Recognised(strategy, captcha) for strategy, traces in shown if (captcha := strategy.find(traces)) is not None
    ]
    return sorted(found, key=_rank)


def _rank(one: Recognised) -> tuple[bool, bool, bool]:
    return not one.captcha.is_interstitial, not one.strategy.is_solvable, bool(one.strategy.missing(one.captcha))
