"""Cloudflare's own page in front of a site: recognised, and told what may still help."""

from appliance.captcha.base import Captcha, Clues, Strategy, Traces


def find(traces: Traces) -> Captcha | None:
    """Return it when the page is one of Cloudflare's."""
    is_here = traces.values.get("_cf_chl_opt") or any("/orchestrate/" in address for address in traces.addresses)
    return Captcha(traces.document, is_interstitial=True) if is_here else None


CLOUDFLARE_PAGE = Strategy(
    kind="cloudflare_page",
    title="page of Cloudflare in front of the site",
    clues=Clues(addresses=(r"/cdn-cgi/challenge-platform/.*/orchestrate/",), values=("_cf_chl_opt",)),
    find=find,
    advice="It often passes by itself: wait_for the site's own text once, then take another way.",
)
