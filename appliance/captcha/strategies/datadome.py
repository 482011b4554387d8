"""DataDome's page in front of a site: recognised only, as its token counts for one network address alone."""

from appliance.captcha.base import ANOTHER_WAY, Captcha, Clues, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return it when the document shows DataDome's frame."""
    return Captcha(traces.document, is_interstitial=True) if traces.addresses else None


DATADOME = Strategy(
    kind="datadome",
    title="page of DataDome in front of the site",
    clues=Clues(addresses=(r"captcha-delivery\.com/(captcha|interstitial)/", r"/captcha/\?initialCid=")),
    find=find,
    advice=ANOTHER_WAY,
)
