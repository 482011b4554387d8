"""What was read of one page by the bulk reader."""

from dataclasses import dataclass

from appliance.content import Content
from appliance.store.links import FoundLink


@dataclass(frozen=True)
class PageRead:
    """One page: `asked` is the address that was to be read, `content.url` where it led.

    `text` is what a person can read, `screenshot` the name of a picture among the session's. A page that could not be
    read has an `error` and nothing else.
    """

    asked: str
    content: Content | None = None
    text: str = ""
    links: tuple[FoundLink, ...] = ()
    screenshot: str | None = None
    error: str | None = None
