"""The security headers of pages: a strict content policy, no framing but where a page is made to be embedded."""

from typing import Any

from litestar.response import Response

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; manifest-src 'self'; frame-ancestors "
)
_COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}


def secure_page(response: Response[Any]) -> Response[Any]:
    """Add the headers of an ordinary page; for a router's `after_request`."""
    return _add(response, {**_COMMON, "X-Frame-Options": "DENY", "Content-Security-Policy": f"{_POLICY}'none'"})


def secure_embeddable_page(response: Response[Any]) -> Response[Any]:
    """Add the headers of a page that others may put into a frame; for a router's `after_request`."""
    return _add(response, {**_COMMON, "Content-Security-Policy": f"{_POLICY}*"})


def _add(response: Response[Any], headers: dict[str, str]) -> Response[Any]:
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
