"""What stands between the keyless model and a page: a sign-in, a proof of being human, an error of the site."""

import re

from appliance.models.base import Scene
from appliance.models.moves import CHOOSE

_PASSWORD = re.compile(r"<input\b[^>]*\btype=[\"']?password\b", re.IGNORECASE)
_HUMAN = re.compile(
    r"are you (?:a )?human|not a robot|verify(?:ing)? (?:that )?you are|checking your browser|unusual traffic|captcha",
    re.IGNORECASE,
)


def explain(scene: Scene) -> str:
    """Return in a sentence what on the page is beyond reading, "" when nothing of the kind shows."""
    text = "\n".join(scene.lines)
    if _PASSWORD.search(text):
        return f"The page asks for a sign-in, which autopilot cannot do; {CHOOSE}"
    if _HUMAN.search(text):
        return f"The page asks for a proof of being human, which autopilot cannot give; {CHOOSE}"
    return ""
