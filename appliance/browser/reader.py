"""Reads a document's HTML into Markdown and the facts it states about itself."""

from appliance.content import Content


def read_html(html: str, url: str) -> Content:
    """Return the readable content of a document."""
    raise NotImplementedError
