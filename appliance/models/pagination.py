"""How a list goes on: the link to its next page, a button that shows more of it; scrolling is done by find_links."""

import re
from collections.abc import Callable, Generator
from urllib.parse import urldefrag, urlsplit

from appliance.models.base import Scene
from appliance.models.moves import Move, items_in, move, status_of
from appliance.models.survey import Survey
from appliance.store.links import FoundLink
from appliance.store.paging import says_more, says_next

MAX_PAGES = 10
"""Pages of a list that are read unless the task names a number."""
MAX_CLICKS = 20
"""How often a button for more is pressed on one page."""

_ELEMENT = re.compile(r"\s*\*?\[(\d+)\]<(\w+)([^>]*)>(.*)")
_CANNOT = re.compile(r"\bdisabled\b")


Turned = Generator[Move, Scene, Scene | None]


class Turning:
    """Turns the pages of one list; `more_than_read` says that it goes on beyond what was turned to."""

    def __init__(self, most_pages: int | None, wanted: int | None) -> None:
        self._most = most_pages or MAX_PAGES
        self._is_limited = most_pages is not None
        self._wanted = wanted
        self._visited: set[str] = set()
        self._page = 1
        self._pressed = 0
        self.more_than_read = False

    def turn(self, scene: Scene, found: Survey) -> Turned:
        """Yield the moves that show more of the list and return the scene, None when there is no more."""
        self._visited.add(urldefrag(scene.url).url)
        following = find_next(scene.links.found if scene.links else (), found.following, scene.url, self._page)
        following = "" if urldefrag(following).url in self._visited else following
        button = _find_button(scene.lines, says_next) if not following else None
        can_press = bool(found.more) and not following and self._pressed < MAX_CLICKS
        if not (following or button or can_press):
            self.more_than_read = bool(found.more)
            return None
        if self._page >= self._most:
            self.more_than_read = not self._is_limited
            return None
        self._page += 1
        if following:
            return (yield from self._follow(scene, following))
        if button is not None:
            return (yield from self._press_next(button))
        return (yield from self._press_more(scene, found.more))

    def _follow(self, scene: Scene, address: str) -> Turned:
        scene = yield move(
            f"The list goes on at {address}.", f"Open page {self._page} of the list.", {"navigate": {"url": address}}
        )
        if status_of(scene, "navigate") in ("failed", "blocked"):
            self.more_than_read = True
            return None
        return scene

    def _press_next(self, button: int) -> Turned:
        scene = yield move(
            "A button leads to the next page of the list.", f"Go to page {self._page}.", {"click": {"index": button}}
        )
        return scene if status_of(scene, "click") == "ok" else None

    def _press_more(self, scene: Scene, label: str) -> Turned:
        """Press the button for more until it is gone, has no effect, or enough is shown."""
        shown = max(1, items_in(scene))
        presses = MAX_CLICKS if self._wanted is None else max(1, -(-(self._wanted - items_in(scene)) // shown))
        start = self._pressed
        for _ in range(min(presses, MAX_CLICKS - self._pressed)):
            button = _find_button(scene.lines, says_more)
            if button is None:
                scene = yield move(f"The page has {label}.", f"Look for {label}.", {"find_text": {"text": label}})
                button = _find_button(scene.lines, says_more)
            if button is None or status_of(scene, "find_text") in ("failed", "no_effect"):
                break
            scene = yield move(f"The page has {label}.", "Have more of the list shown.", {"click": {"index": button}})
            if status_of(scene, "click") != "ok":
                break
            self._pressed += 1
            if scene.step > scene.max_steps // 2:
                break
        return scene if self._pressed > start else None


def find_next(found: tuple[FoundLink, ...], following: str, url: str, page: int) -> str:
    """Return the address of the next page of a list, "" without one: as the page names it, by its words, by number."""
    host = urlsplit(url).netloc
    here = urldefrag(url).url
    links = [link for link in found if urlsplit(link.url).netloc == host and urldefrag(link.url).url != here]
    if following and urlsplit(following).netloc == host:
        return following
    said = [link.url for link in links if says_next(link.text)]
    if said:
        return said[-1]
    number = str(page + 1)
    numbered = [link.url for link in links if link.text.strip() == number and number in link.url]
    others = sum(link.text.strip().isdigit() for link in links)
    return numbered[0] if numbered and (others > 1 or page > 1 or _names_pages(numbered[0])) else ""


def _names_pages(url: str) -> bool:
    return re.search(r"page|seite|[?&](?:p|pg|start|offset|from)=", url, re.IGNORECASE) is not None


def _find_button(lines: tuple[str, ...], says: Callable[[str], bool]) -> int | None:
    """Return the number of the last button or link without an address of its own that says so and can be pressed."""
    found: int | None = None
    for line in lines:
        match = _ELEMENT.match(line)
        if match is None or _CANNOT.search(match[3]):
            continue
        name = re.search(r'(?:aria-label|name|title)="([^"]*)"', match[3])
        if says(match[4]) or (name is not None and says(name[1])):
            found = int(match[1])
    return found
