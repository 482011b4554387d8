"""Chooses, among the links of a list, those that lead to the pages of its rows."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urldefrag, urlsplit

from appliance.models.addresses import without_addresses
from appliance.store.facts import split_words
from appliance.store.kinship import ANY, Shape, shapes_of
from appliance.store.links import FoundLink
from appliance.store.paging import is_paging

FEWEST = 2
"""Links that lead to like addresses are a list from so many on."""

_NO_PAGE = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|zip|gz|tar|7z|rar|exe|dmg|png|jpe?g|gif|webp|svg|mp[34]|mov|avi|csv|json|xml|rss|ics|txt)$",
    re.IGNORECASE,
)
_OF_THE_SITE = {
    "about", "contact", "imprint", "impressum", "privacy", "datenschutz", "term", "condition", "agb", "login", "signin",
    "signup", "register", "logout", "account", "cart", "basket", "checkout", "wishlist", "help", "faq", "search",
    "legal", "cookie", "sitemap", "career", "press", "newsletter", "share", "feed", "rss", "language", "home",
}  # fmt: skip
"""Words of addresses that lead to what every site has."""
_MONEY = re.compile(r"[€£$¥₹]\s?\d|\d\s?(?:[€£$¥₹]|(?:EUR|USD|GBP|CHF)\b)")


@dataclass(frozen=True)
class Details:
    """Links to the pages of rows; `is_sure` says that they stand in entries that say more than the link."""

    links: tuple[FoundLink, ...] = ()
    score: float = 0.0
    is_sure: bool = False


def choose_details(found: Sequence[FoundLink], url: str, task: str = "") -> Details:
    """Return the links of the group that most looks like the rows of a list, one per page, in page order.

    They lead to like addresses on the host of the page, or of the frame that they stand in, and not to the page
    itself, to other pages of the list or to files. Without such a group there are none.
    """
    candidates = _one_per_page(link for link in found if _may_be_row(link, url))
    words = _words_of(task)
    groups = [_details(links, words) for links in _alike(candidates)]
    best = max(groups, key=lambda group: group.score, default=Details())
    return best if best.score > 0 else Details()


def _may_be_row(link: FoundLink, url: str) -> bool:
    parts = urlsplit(link.url)
    if parts.scheme not in ("http", "https") or not link.is_shown or is_paging(link.text):
        return False
    if parts.netloc != urlsplit(link.frame or url).netloc or _NO_PAGE.search(parts.path):
        return False
    last = split_words(parts.path.rstrip("/").rpartition("/")[2])
    if last and set(last) <= _OF_THE_SITE and not parts.query:
        return False
    same = (urldefrag(url).url, urldefrag(link.frame).url)
    return urldefrag(link.url).url.rstrip("/") not in [one.rstrip("/") for one in same] and parts.path not in ("", "/")


def _one_per_page(links: Iterable[FoundLink]) -> list[FoundLink]:
    """Return one link for each page; a picture and a name that lead to the same are one row."""
    found: dict[str, FoundLink] = {}
    for link in links:
        page = urldefrag(link.url).url
        known = found.get(page)
        if known is None:
            found[page] = link
        elif len(link.text) > len(known.text):
            found[page] = FoundLink(
                known.url, link.text, known.frame, max(known.row, link.row, key=len), known.is_shown
            )
    return list(found.values())


def _alike(links: Sequence[FoundLink]) -> Iterable[list[FoundLink]]:
    """Yield the groups of links whose addresses differ in one place, whichever host a panel is of."""
    groups: dict[Shape, list[FoundLink]] = {}
    for link in links:
        for _, *shape in shapes_of(link.url):
            groups.setdefault(tuple(shape), []).append(link)
    for shape, group in groups.items():
        if len(group) >= FEWEST and (not _is_wide(shape) or _is_mixed(group)):
            yield group


def _is_wide(shape: Shape) -> bool:
    return sum(part.startswith(ANY) for part in shape) > 1


def _is_mixed(links: Sequence[FoundLink]) -> bool:
    """Whether the folders above the last come mixed, as in one list of several kinds, and not as lists one by one."""
    folders = [urlsplit(link.url).path.rstrip("/").split("/")[-2] for link in links]
    blocks = 1 + sum(one != other for one, other in pairwise(folders))
    return blocks > len(set(folders)) or any(count < FEWEST for count in Counter(folders).values())


def _details(links: Sequence[FoundLink], task_words: frozenset[str]) -> Details:
    """Return the links with how much they look like rows: many, each in an entry that says more, named alike."""
    if len({link.text for link in links}) < FEWEST and len({link.row for link in links}) < FEWEST:
        return Details()
    rows = len({link.row for link in links if link.row})
    share_of_rows = min(1.0, rows / len(links))
    says_more = sum(len(_beside(link)) > 0 for link in links) / len(links)
    with_price = sum(_MONEY.search(link.row) is not None for link in links) / len(links)
    long_names = sum(len(link.text) > 12 or " " in link.text for link in links) / len(links)
    words = frozenset(word for link in links for word in _path_words(link))
    score = len(links) * share_of_rows * (0.5 + 2.0 * says_more + 2.0 * with_price + 0.5 * long_names)
    return Details(tuple(links), score * (1.5 if words & task_words else 1.0), says_more * share_of_rows > 0.5)


def _beside(link: FoundLink) -> str:
    """Return what the entry says beside the link."""
    return " ".join(piece for piece in link.row.splitlines() if piece.strip() and piece.strip() not in link.text)


def _path_words(link: FoundLink) -> set[str]:
    return set(split_words(urlsplit(link.url).path.replace("/", " ")))


def _words_of(task: str) -> frozenset[str]:
    """Return the words of a task that may name what is listed, without its addresses."""
    return frozenset(word for word in split_words(without_addresses(task)) if len(word) > 3)
