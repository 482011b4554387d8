"""Keeps out of an answer what no page has said: made-up links and choices, addresses and ids that are none."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from appliance.store.evidence import Evidence
from appliance.store.links import Links
from appliance.store.pointers import leaves
from appliance.store.schema import FieldShape, ObjectShape
from appliance.store.texts import is_same_page, page_key

MAX_STUBS = 2
"""Items that may be written from a list alone, where their own pages say more."""
ENOUGH = 120
"""Characters of a text that make an item more than a stub."""
_MAX_SHOWN = 120
_EMAIL = re.compile(r"[^\s@<>()\[\],;:\"]+@[^\s@<>()\[\],;:\"]+\.[^\W\d_][\w-]+")
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_PLACEHOLDERS = {"unknown", "n/a", "na", "none", "null", "undefined", "tbd", "todo", "-", "example", "id"}


@dataclass(frozen=True)
class Refusal:
    """Why a value may not stand there; `link` is the address that no page has shown, `is_doubt` that it may after all.

    A value that is only doubted is taken when it is given again.
    """

    text: str
    link: str | None = None
    is_doubt: bool = False


class Guards:
    """The guards of one answer."""

    def __init__(self, evidence: Evidence, links: Links) -> None:
        self._evidence = evidence
        self._links = links

    def check(self, field: FieldShape, value: Any, page: str | None) -> Refusal | None:
        """Return why a value that fits the schema may not stand in the field, None when it may."""
        if not isinstance(value, str):
            return self._check_inside(field, value)
        if field.is_choice:
            return self._check_choice(field, value, page)
        if field.role in ("url", "own_url"):
            return self._check_link(field, value)
        refusal = _check_form(field, value)
        return refusal or (self._check_link(field, value) if _ADDRESS.fullmatch(value) else None)

    def _check_inside(self, field: FieldShape, value: Any) -> Refusal | None:
        """Return a refusal of the first made-up address inside of a list or an object."""
        inner = (text for _, text in leaves(value) if isinstance(text, str))
        found = (self._check_link(field, text) for text in inner if _ADDRESS.fullmatch(text))
        return next((refusal for refusal in found if refusal is not None), None)

    def _check_choice(self, field: FieldShape, value: str, page: str | None) -> Refusal | None:
        """Return a refusal of a choice that no page states; the only choice there is needs no page to state it."""
        evidence = self._evidence
        if len(field.choices) < 2 or value == field.default or evidence.is_empty or evidence.has_text(value):
            return None
        others = [one for one in field.choices if isinstance(one, str) and one != value]
        stated = [one for one in others if evidence.find(one, page) is not None or evidence.has_text(one)]
        lead = f"{field.name}: no page that was read says {_shown(value)}"
        if stated:
            said = ", ".join(_shown(one) for one in stated[:4])
            return Refusal(f"{lead}, but {said} is said; give what the page states, or read the page that says it.")
        return Refusal(
            f"{lead}, nor any other of its choices; read the page that does. If the field asks for your judgement and "
            "not for the page's words, give it again.",
            is_doubt=True,
        )

    def _check_link(self, field: FieldShape, value: str) -> Refusal | None:
        parts = _split(value)
        if parts is None or parts[0] not in ("http", "https") or not parts[1] or re.search(r"\s", value):
            if parts is not None and parts[0] and self.knows_link(value):
                return None
            return Refusal(
                f"{field.name}: {_shown(value)} is no whole address; give one such as https://example.com/page, as "
                "the page has it.",
                link=value,
            )
        if self._evidence.is_empty or self.knows_link(value):
            return None
        near = self._evidence.nearest_link(value)
        hint = f"; the nearest that one did is {near}" if near else ""
        return Refusal(
            f"{field.name}: no page that was read shows the address {_shown(value, 300)}{hint}. Copy an address "
            "exactly as find_links, extract or the page gives it.",
            link=value,
        )

    def knows_link(self, url: str) -> bool:
        """Whether a page showed the address, byte for byte."""
        links = self._links
        return (
            self._evidence.has_link(url)
            or url in links.read
            or url in links.dead
            or any(url == link.url for link in links.found)
        )

    def has_read(self, url: str) -> bool:
        """Whether the page of this address was read, or could not be."""
        links, key = self._links, page_key(url)
        return self._evidence.has_visited(url) or any(
            one in links.read or one in links.dead for one in (url, key, f"{key}/")
        )

    def is_on(self, url: str, value: Any) -> bool:
        """Whether the page of this address was read and says the value."""
        place = self._evidence.find(value, near=url)
        return place is not None and is_same_page(place.url, url)

    def is_stub(self, shape: ObjectShape, item: dict[str, Any]) -> bool:
        """Whether an item was written from a list alone: its page was not read, and it has no text of any length."""
        if not any(field.role == "description" for field in shape.fields):
            return False
        url = shape.own_url_of(item)
        if url is None or self.has_read(url):
            return False
        return not any(isinstance(value, str) and len(value) > ENOUGH and value != url for value in item.values())


def _check_form(field: FieldShape, value: str) -> Refusal | None:
    if field.role == "email" and not _EMAIL.fullmatch(value):
        return Refusal(f"{field.name}: {_shown(value)} is no e-mail address; give one such as name@example.com.")
    if field.role == "uuid" and not _is_uuid(value):
        return Refusal(
            f"{field.name}: {_shown(value)} is no UUID; give its 32 hexadecimal digits as the page has them."
        )
    if field.role == "id" and (re.search(r"\s|://", value) or value.lower() in _PLACEHOLDERS or len(value) > 200):
        return Refusal(
            f"{field.name}: {_shown(value)} is no id; give the id alone as the page has it, without words or address."
        )
    return None


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _split(value: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    return parts.scheme, parts.netloc


def _shown(value: str, limit: int = _MAX_SHOWN) -> str:
    return repr(value if len(value) <= limit else f"{value[: limit - 1]}…")
