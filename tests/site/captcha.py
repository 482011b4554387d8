"""Routes that stand for the hosts of captchas: their scripts, frames and requests under paths like the real ones."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parent / "pages"
SCRIPT = "text/javascript"
TURNSTILE = "/cdn-cgi/challenge-platform/h/b/turnstile/if/ov2/av0/rcv/a1b2c/0x4AAAAAAATest/light/fbE/new/normal/auto/"
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="160" height="50"><rect width="160" height="50" fill="#dde"/>
<text x="20" y="34" font-size="28" font-family="serif">w3kq7</text></svg>"""

Handler = Any
Query = dict[str, str]


def _file(name: str, kind: str = SCRIPT) -> Callable[[Handler, Query, bytes], None]:
    def route(handler: Handler, query: Query, body: bytes) -> None:
        text = (PAGES / name).read_text()
        for number in (1, 2, 3):
            text = text.replace(f"{{{{HOST{number}}}}}", handler.site.url("", number))
        handler.answer(text, kind)

    return route


def _frame(handler: Handler, query: Query, body: bytes) -> None:
    """Answer with the inside of a widget."""
    handler.answer("<!doctype html><title>widget</title><p>I am not a robot</p>")


def _script(handler: Handler, query: Query, body: bytes) -> None:
    handler.answer("void 0;", SCRIPT)


def _picture(handler: Handler, query: Query, body: bytes) -> None:
    handler.answer(PICTURE, "image/svg+xml")


def _guarded(handler: Handler, query: Query, body: bytes) -> None:
    """Answer with the page to those who bring the WAF's token, else with the WAF's own page.

    `lacks` leaves one of its properties out; with `never` no token is good enough.
    """
    cookies = handler.headers.get("Cookie") or ""
    if "aws-waf-token=solved:" in cookies and "never" not in query:
        handler.answer("<!doctype html><title>Shop</title><h1>Welcome to the shop</h1>")
        return
    given = {"key": "AQIDAtest", "iv": "A6wetest", "context": "rGXmtest"}
    given.pop(query.get("lacks", ""), None)
    told = ", ".join(f'"{name}": "{escape(value)}"' for name, value in given.items())
    handler.answer(
        f"<!doctype html><title>Human verification</title><script>window.gokuProps = {{{told}}};</script>"
        '<script src="/awswaf/challenge.js"></script><div id="challenge-container">Let us see that you are human</div>',
        status=405,
    )


CAPTCHA_ROUTES: dict[str, Callable[[Handler, Query, bytes], None]] = {
    "/recaptcha/api.js": _file("captcha_google.js"),
    "/recaptcha/enterprise.js": _file("captcha_google.js"),
    "/recaptcha/api2/anchor": _frame,
    "/recaptcha/enterprise/anchor": _frame,
    "/turnstile/v0/api.js": _file("captcha_cloudflare.js"),
    TURNSTILE: _frame,
    "/get.php": _script,
    "/load": _script,
    "/mtcv1/client/iframe.html": _frame,
    "/awswaf/challenge.js": _script,
    "/captcha/picture": _picture,
    "/captcha/guarded": _guarded,
    "/captcha-delivery.com/captcha/": _frame,
    "/hcaptcha.local/captcha/v1/hcaptcha.html": _frame,
}
