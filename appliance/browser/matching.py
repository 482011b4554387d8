"""Knows an element again on a page that may have changed: by keys taken when it was used, compared in five levels.

Keys are taken in the page by one command. A level that fits several elements is left for the next one, unless what
stands around them tells them apart; a page on which no level is sure has no match, and a sentence says why.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.browser.cdp import CdpError
from appliance.browser.connection import Browser
from appliance.browser.documents import MAX_DOCUMENTS, frame_id_of
from appliance.browser.effects import method, page_function
from appliance.browser.element import Element, FrameLink
from appliance.browser.frames import World
from appliance.browser.observation import ElementView
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

NAMING = ("id", "data-testid", "data-test", "data-qa", "data-cy", "href")
"""Attributes that say which element it is."""
IDENTIFYING = ("name", "id", "data-testid", "data-test", "data-qa", "data-cy", "aria-label", "placeholder", "href")
"""Attributes that may tell one element from others, in the order in which they are asked."""
MAX_FRAME_DEPTH = 5
TAKE_SECONDS = 1.0
SEARCH_SECONDS = 5.0

_VOLATILE = re.compile(
    r"(^|[-_])(focus(ed|-visible|-within)?|hover(ed)?|active|open(ed)?|closed?|loading|loaded|selected|checked|visited"
    r"|disabled|enabled|pressed|dragging|animat\w*|transition\w*|entering|leaving|visible|hidden|shown?|current|dirty"
    r"|pristine|touched|valid|invalid|expanded|collapsed)([-_]|$)",
    re.IGNORECASE,
)
_GENERATED_PART = re.compile(r"(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{5,}|[A-Za-z]*[a-z][A-Z]{2,}\w*")
_GENERATED_ID = re.compile(r"\d{2,}|:r[0-9a-z]+:|[0-9a-f]{8}")


class ElementKeys(msgspec.Struct, frozen=True, omit_defaults=True):
    """By what an element can be known again.

    `name` is its accessible name, `path` the tags that lead to it with their places, `frame` the path of the address of
    the frame it lies in ("" in the page itself), `near` the text around it. `opens` says that it opens a menu or the
    like, `twin` that the page has another of the same tag and name. `spot` is the place in it, in parts of its width
    and height, where it was met by a point.
    """

    tag: str
    role: str = ""
    name: str = ""
    attributes: dict[str, str] = {}
    classes: tuple[str, ...] = ()
    path: str = ""
    frame: str = ""
    near: str = ""
    opens: bool = False
    twin: bool = False
    spot: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """What a person would call the element."""
        word = self.role or self.tag
        return f'{word} "{self.name[:60]}"' if self.name else word


@dataclass(frozen=True)
class Candidate:
    """An element of the page that may be the one; only one that is `usable` can be acted on."""

    keys: ElementKeys
    usable: bool
    element: Element | None = None


@dataclass(frozen=True)
class Match:
    """What was found: the candidate and the level it was found by, or neither and why.

    `is_hidden` says that the element is on the page but cannot be seen, as in a closed menu.
    """

    found: Candidate | None
    level: str = ""
    reason: str = ""
    is_hidden: bool = False


async def take_keys(element: Element) -> ElementKeys | None:
    """Return the keys of an element as it is now; None when it is gone or the page does not answer."""
    try:
        keys = await element.call(method("keys", "of"), timeout=TAKE_SECONDS)
        return msgspec.convert(keys, ElementKeys)
    except (ActionFailed, CdpError, msgspec.ValidationError):
        return None


async def take_keys_at(browser: Browser, x: float, y: float) -> ElementKeys | None:
    """Return the keys of what a click at a point of the main viewport is for, with their `spot`.

    None when nothing but the page lies there, or it does not answer. Raises BrowserLost.
    """
    tab = browser.tab
    try:
        world = await tab.frames.world()
        for _ in range(MAX_FRAME_DEPTH + 1):
            found = await tab.run(page_function("keys", "at"), x, y, timeout=TAKE_SECONDS, world=world)
            if "frame" not in found:
                return msgspec.convert(found["keys"], ElementKeys) if "keys" in found else None
            world = await _world_of(tab, world, found["frame"])
            x, y = found["x"], found["y"]
    except (ActionFailed, CdpError, msgspec.ValidationError):
        return None
    return None


async def search(browser: Browser, wanted: ElementKeys) -> Match:
    """Look once for the element in every document of the current tab.

    Raises BrowserLost; a page that cannot be read now has no match.
    """
    tab = browser.tab
    try:
        candidates = await _candidates(tab, await tab.frames.world(), wanted, ())
    except (ActionFailed, CdpError) as error:
        return Match(None, reason=f"the page could not be searched: {error.message}")
    return choose(wanted, candidates)


def choose(wanted: ElementKeys, candidates: list[Candidate]) -> Match:
    """Return the one candidate that is the wanted element by the first level that is sure, or none and why."""
    usable = [one for one in candidates if one.usable]
    match = _choose(wanted, usable)
    if match.found is None and _choose(wanted, candidates).found is not None:
        return Match(None, reason=f"{wanted.words} is on the page but cannot be seen", is_hidden=True)
    return match


def _choose(wanted: ElementKeys, candidates: list[Candidate]) -> Match:
    unsure: list[str] = []
    for level, fits in _LEVELS:
        fitting = [one for one in candidates if fits(wanted, one.keys)]
        fitting = [one for one in fitting if one.keys.frame == wanted.frame] or fitting
        if not fitting:
            continue
        if level == "path" and not _is_credible(wanted, fitting[0].keys, candidates):
            unsure.append("what stands in its place is something else")
            continue
        found = _told_apart(wanted, fitting, level)
        if found is not None:
            return Match(found, level)
        unsure.append(f"{len(fitting)} on the page may be it by {level}, and which is not sure")
    return Match(None, reason="; ".join(dict.fromkeys(unsure)) or f"nothing on the page is like {wanted.words}")


def _same_exactly(wanted: ElementKeys, keys: ElementKeys) -> bool:
    return _identity(wanted) == _identity(keys) and wanted.classes == keys.classes


def _same_stably(wanted: ElementKeys, keys: ElementKeys) -> bool:
    wanted, keys = _stable(wanted), _stable(keys)
    return _identity(wanted) == _identity(keys) and set(wanted.classes) == set(keys.classes)


def _same_path(wanted: ElementKeys, keys: ElementKeys) -> bool:
    return wanted.path == keys.path and (wanted.tag, wanted.role) == (keys.tag, keys.role)


def _same_name(wanted: ElementKeys, keys: ElementKeys) -> bool:
    return bool(wanted.name) and wanted.name == keys.name and (wanted.role or wanted.tag) == (keys.role or keys.tag)


def _same_attribute(wanted: ElementKeys, keys: ElementKeys) -> bool:
    if wanted.tag != keys.tag:
        return False
    mine, theirs = wanted.attributes, keys.attributes
    return any(name in mine and mine[name] == theirs.get(name) for name in IDENTIFYING)


_LEVELS = (
    ("exact", _same_exactly),
    ("stable", _same_stably),
    ("path", _same_path),
    ("role and name", _same_name),
    ("attributes", _same_attribute),
)


def _identity(keys: ElementKeys) -> tuple[Any, ...]:
    """What an element is apart from its classes and its place among its like."""
    return keys.tag, keys.role, keys.name, re.sub(r"\[\d+\]", "", keys.path), keys.frame, keys.attributes


def _stable(keys: ElementKeys) -> ElementKeys:
    """Return the keys without what changes while a page is used, or each time it is built."""
    classes = tuple(name for name in keys.classes if not _VOLATILE.search(name) and not _GENERATED_PART.search(name))
    attributes = {
        name: value
        for name, value in keys.attributes.items()
        if name not in ("id", "for") or not _GENERATED_ID.search(value)
    }
    return msgspec.structs.replace(keys, classes=classes, attributes=attributes)


def _is_credible(wanted: ElementKeys, there: ElementKeys, candidates: list[Candidate]) -> bool:
    """Whether what stands in the place is the element, perhaps under another name, and not another element."""
    mine, theirs = _stable(wanted).attributes, _stable(there).attributes
    if any(mine.get(name) != theirs.get(name) for name in (*NAMING, "name")):
        return False
    if wanted.name == there.name:
        return not wanted.twin or _plain(wanted.near) == _plain(there.near)
    return not any(_same_name(wanted, one.keys) for one in candidates)


def _told_apart(wanted: ElementKeys, fitting: list[Candidate], level: str) -> Candidate | None:
    """Return the one that is meant; of several, or where there were several, the one in the same surroundings."""
    if level == "attributes":
        return _by_surest_attribute(wanted, fitting)
    if len(fitting) == 1 and (not wanted.twin or level == "path" or _names_itself(wanted, fitting[0].keys)):
        return fitting[0]
    around = [one for one in fitting if one.keys.near == wanted.near]
    around = around or [one for one in fitting if _plain(one.keys.near) == _plain(wanted.near)]
    if len(around) > 1:
        around = [one for one in around if one.keys.path == wanted.path]
    return around[0] if len(around) == 1 else None


def _names_itself(wanted: ElementKeys, keys: ElementKeys) -> bool:
    """Whether an attribute alone says that it is the one, so that its surroundings need not be asked."""
    mine, theirs = _stable(wanted).attributes, _stable(keys).attributes
    return any(name in mine and mine[name] == theirs.get(name) for name in NAMING)


def _by_surest_attribute(wanted: ElementKeys, fitting: list[Candidate]) -> Candidate | None:
    for name in IDENTIFYING:
        value = wanted.attributes.get(name)
        same = [one for one in fitting if value and one.keys.attributes.get(name) == value]
        if len(same) == 1:
            return same[0]
    return None


def _plain(text: str) -> str:
    """Return a text without its numbers, which change where nothing else does."""
    return " ".join(re.sub(r"[\d.,:]+", " ", text).split())


async def _candidates(tab: Tab, world: World, wanted: ElementKeys, chain: tuple[FrameLink, ...]) -> list[Candidate]:
    """Return what one document and the frames of other sites in it have to offer."""
    found = await tab.run(
        page_function("keys", "candidates"), msgspec.structs.asdict(wanted), timeout=SEARCH_SECONDS, world=world
    )
    candidates = [_candidate(tab, world, chain, one) for one in found["found"]]

    async def inside(reference: int) -> list[Candidate]:
        try:
            inner = await _world_of(tab, world, reference)
            return await _candidates(tab, inner, wanted, (*chain, FrameLink(world, reference)))
        except (ActionFailed, CdpError):
            # A frame that cannot be read now has nothing to offer; the next look may find it ready.
            return []

    if len(chain) < MAX_FRAME_DEPTH:
        # At once: the time of those that do not answer does not add up.
        for more in await asyncio.gather(*map(inside, found["frames"][:MAX_DOCUMENTS])):
            candidates += more
    return candidates


def _candidate(tab: Tab, world: World, chain: tuple[FrameLink, ...], found: dict[str, Any]) -> Candidate:
    keys = msgspec.convert(found["keys"], ElementKeys)
    view = ElementView(0, keys.tag, keys.role, keys.name)
    return Candidate(keys, found["usable"], Element(tab, view, world, found["reference"], chain))


async def _world_of(tab: Tab, world: World, reference: int) -> World:
    """Return the world inside a frame of another site."""
    frame_id = await frame_id_of(tab, FrameLink(world, reference))
    return await tab.frames.world(frame_id, tab.frames.owner(frame_id, world.session_id))
