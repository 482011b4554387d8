"""How one text may be written by those who pass it on: in addresses, in markup, in JSON, in base64."""

import base64
import html
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

COMPONENT_SAFE = "!~*'()"
"""What encodeURIComponent leaves as it is."""
ADDRESS_SAFE = ";,/?:@&=+$-_.!~*'()#"
"""What encodeURI leaves as it is."""
SHORTEST_BASE64 = 8


def spell_all(text: str) -> frozenset[str]:
    """Return every spelling of a text by which it could be read again, the text itself among them."""
    return frozenset(spelling for spelling in _spell(text) if spelling)


def _spell(text: str) -> Iterator[str]:
    yield text
    # As a page's text is read: blanks run together.
    squeezed = " ".join(text.split())
    for one in (text, squeezed):
        yield one
        for safe in ("", "/", COMPONENT_SAFE, ADDRESS_SAFE):
            yield quote(one, safe=safe, errors="replace")
        yield quote_plus(one, errors="replace")
        yield quote(quote(one, safe="", errors="replace"), safe="")
        yield from _in_markup(one)
        for ascii_only in (True, False):
            yield json.dumps(one, ensure_ascii=ascii_only)[1:-1]
        yield repr(one)[1:-1]
    yield from _in_base64(text.encode(errors="replace"))


def _in_markup(text: str) -> Iterator[str]:
    yield html.escape(text, quote=False)
    escaped = html.escape(text)
    for apostrophe in ("&#x27;", "&#39;", "&apos;", "'"):
        yield escaped.replace("&#x27;", apostrophe)
    yield text.replace("&", "&amp;").replace('"', "&quot;")


def _in_base64(data: bytes) -> Iterator[str]:
    """Yield what base64 makes of the bytes, also in the middle of others, as in `user:password`."""
    yield base64.b64encode(data).decode()
    yield base64.urlsafe_b64encode(data).decode()
    for before in range(3):
        whole = (before + len(data)) // 3 * 3
        encoded = base64.b64encode((b"\0" * before + data)[:whole])
        # The first characters hold bits of what stands before.
        core = encoded[-(-before * 8 // 6) :].decode()
        if len(core) >= SHORTEST_BASE64:
            yield core
            yield core.replace("+", "-").replace("/", "_")
