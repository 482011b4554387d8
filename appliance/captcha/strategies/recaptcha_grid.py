"""Google's grid of pictures, open without a widget that could be solved: recognised only."""

from appliance.captcha.base import Captcha, Clues, Strategy, Traces

GRID = ".rc-imageselect-table-33, .rc-imageselect-table-44, .rc-imageselect-challenge"


def find(traces: Traces) -> Captcha | None:
    """Return the grid that is open in a document."""
    return Captcha(traces.document) if any(one.is_visible for one in traces.matching(GRID)) else None


RECAPTCHA_GRID = Strategy(
    kind="recaptcha_grid",
    title="grid of pictures of reCAPTCHA",
    clues=Clues(elements=(GRID,)),
    find=find,
    advice="Close it and look again: the page's own widget may show, which can be solved.",
)
