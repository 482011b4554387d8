"""Makes text whole that holds halves of characters, as pages and models produce when they cut an emoji in two.

Nothing here can write such text down: no UTF-8 encoder, no JSON decoder but Python's own takes it.
"""

import re

_SUSPECT = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)


def make_whole(text: str) -> str:
    """Return the text with U+FFFD in the place of each lone surrogate: bare ones, and escaped ones as JSON has them."""
    if _SUSPECT.search(text) is None:
        return text
    bare = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ESCAPE.sub(lambda match: r"\ufffd" if match[1] else match[0], bare)
