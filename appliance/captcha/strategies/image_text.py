"""A picture of letters or digits with a field beside it: read by the service, typed by us."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from appliance.captcha.base import Captcha, Clues, Found, Redemption, Strategy, Traces

NAMED = tuple(
    f"{tag}[{attribute}*='{word}' i]"
    for word in ("captcha", "securimage", "verifycode")
    for tag in ("img", "canvas")
    for attribute in ("id", "class", "src", "alt")
)
INSIDE = tuple(f"[{attribute}*='captcha' i] {tag}" for attribute in ("id", "class") for tag in ("img", "canvas"))
SMALLEST, LARGEST = (30, 12), (600, 300)


def find(traces: Traces) -> Captcha | None:
    """Return the first picture of a captcha's size that is in view of a person."""
    pictures = [one for one in traces.matching(*NAMED, *INSIDE) if _is_picture(one)]
    pictures.sort(key=lambda one: not one.near_field)
    if not pictures:
        return None
    picture = pictures[0]
    told = {"picture": str(picture.reference)}
    if picture.near_field:
        told["answer"] = str(picture.near_field)
    return Captcha(traces.document, told, picture=picture.reference, answer=picture.near_field)


def build(_: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task; the picture itself is added when it has been taken."""
    return {"type": "ImageToTextTask", "websiteURL": url, "module": "common"}


def redeem(_: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return what is to be typed."""
    return Redemption(typed=str(solution.get("text", "")))


def _is_picture(one: Found) -> bool:
    fits = SMALLEST[0] <= one.width <= LARGEST[0] and SMALLEST[1] <= one.height <= LARGEST[1]
    return one.is_visible and fits and one.tag in ("img", "canvas")


IMAGE_TEXT = Strategy(
    kind="image_text",
    title="picture with letters",
    clues=Clues(elements=(*NAMED, *INSIDE)),
    find=find,
    price_usd=Decimal("0.0004"),
    required={"answer": "the field for what it says"},
    build=build,
    redeem=redeem,
)
