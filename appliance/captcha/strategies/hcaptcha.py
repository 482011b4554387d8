"""hCaptcha: recognised only, as the service solves it no more."""

from appliance.captcha.base import ANOTHER_WAY, Captcha, Clues, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return the hCaptcha of a document."""
    is_here = traces.elements or traces.addresses
    return Captcha(traces.document) if is_here else None


HCAPTCHA = Strategy(
    kind="hcaptcha",
    title="hCaptcha",
    clues=Clues(
        elements=(".h-captcha", "[name='h-captcha-response']"), addresses=(r"hcaptcha[^/]*/.*(hcaptcha\.html|api\.js)",)
    ),
    find=find,
    advice=ANOTHER_WAY,
)
