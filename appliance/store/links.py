"""The links that pages were found to have, and which of them are still to be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from appliance.store.texts import page_key

if TYPE_CHECKING:
    from appliance.store.pages import PageRead


@dataclass(frozen=True)
class FoundLink:
    """One link of a page: `url` is the address to the byte as the browser resolves it, `text` what a person reads.

    `frame` is the address of the frame it stands in, "" for the page itself. `row` is the text of the list entry or
    table row around it, one line for each piece of it. `is_shown` is False for one that a person does not see, such as
    in a menu that is closed.
    """

    url: str
    text: str
    frame: str = ""
    row: str = ""
    is_shown: bool = True


@dataclass
class Links:
    """The links that were found last, in page order, and the addresses that wait to be read.

    `read` are the addresses that were read, `dead` those that could not be, with the reason. `panel` is a part of the
    address of the frame in which the waiting pages have what is to be read, "" for the pages as a whole. `unwritten`
    are the pages that were read when there was no room for a file of them.
    """

    found: tuple[FoundLink, ...] = ()
    queue: list[str] = field(default_factory=list[str])
    read: set[str] = field(default_factory=set[str])
    dead: dict[str, str] = field(default_factory=dict[str, str])
    panel: str = ""
    unwritten: tuple["PageRead", ...] = ()

    def unread(self, urls: Iterable[str]) -> list[str]:
        """Return the addresses whose pages were not read, in order, each page once."""
        read = set(map(page_key, self.read))
        pages: dict[str, str] = {}
        for url in urls:
            if (key := page_key(url)) not in read:
                pages.setdefault(key, url)
        return list(pages.values())
