"""Google's grid of pictures, open without a widget that could be solved: recognised only."""

from appliance.captcha import pictures

RECAPTCHA_GRID = pictures.make_strategy(
    "recaptcha_grid",
    "grid of pictures of reCAPTCHA",
    ".rc-imageselect-table-33, .rc-imageselect-table-44, .rc-imageselect-challenge",
    advice="Close it and look again: the page's own widget may show, which can be solved.",
)
