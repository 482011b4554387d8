"""Amazon's puzzle of pictures inside a page of the site: recognised only."""

from appliance.captcha.base import Captcha, Clues, Strategy, Traces

GRID = "#amzn-captcha-verify-button, .amzn-captcha-modal canvas, awswaf-captcha canvas"


def find(traces: Traces) -> Captcha | None:
    """Return the puzzle that is open in a document."""
    return Captcha(traces.document) if any(one.is_visible for one in traces.matching(GRID)) else None


AWS_GRID = Strategy(
    kind="aws_grid",
    title="puzzle of pictures of AWS WAF",
    clues=Clues(elements=(GRID,)),
    find=find,
    advice="Take another way to what you need, or say in the answer that it stands in the way.",
)
