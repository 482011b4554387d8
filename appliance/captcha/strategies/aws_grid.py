"""Amazon's puzzle of pictures inside a page of the site: recognised only."""

from appliance.captcha import pictures
from appliance.captcha.base import ANOTHER_WAY

AWS_GRID = pictures.make_strategy(
    "aws_grid",
    "puzzle of pictures of AWS WAF",
    "#amzn-captcha-verify-button, .amzn-captcha-modal canvas, awswaf-captcha canvas",
    advice=ANOTHER_WAY,
)
