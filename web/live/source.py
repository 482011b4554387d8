"""Tells where one value of an answer was read: address, words around it, time, and the picture of the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from appliance.store.sources import Sources
from web.answers import say_value
from web.session_view import SessionView

_MOST_PARTS = 40
_MOST_TEXT = 4_000


@dataclass(frozen=True)
class Source:
    """What is known of one value; `quote` is what was read, in three parts, of which the middle is the value.

    `status` is read, absent or unseen; `picture` names the screenshot of the page where there still is one.
    """

    name: str
    value: str
    status: str
    url: str = ""
    quote: tuple[str, str, str] = ("", "", "")
    at: datetime | None = None
    step: int | None = None
    picture: str | None = None
    reason: str = ""


def find_sources(view: SessionView, pointer: str, has_picture: Callable[[str], bool]) -> tuple[Source, ...]:
    """Return what is known of the value at a JSON pointer, or of its parts; nothing where nothing is known.

    `has_picture` tells whether a screenshot is still kept.
    """
    sources = view.sources or {}
    if pointer in sources:
        return (_source(view, pointer, sources, has_picture),)
    within = [one for one in sources if one.startswith(f"{pointer}/")][:_MOST_PARTS]
    return tuple(_source(view, one, sources, has_picture) for one in within)


def _source(view: SessionView, pointer: str, sources: Sources, has_picture: Callable[[str], bool]) -> Source:
    entry = sources[pointer]
    picture = entry.get("screenshot")
    value = say_value(_value_at(view.session.output, pointer))
    at = entry.get("at")
    return Source(
        name=_name(pointer),
        value=value[:_MOST_TEXT],
        status=entry["status"],
        url=entry.get("url") or "",
        quote=_marked(entry.get("quote") or "", value),
        at=datetime.fromisoformat(at) if at else None,
        step=entry.get("step") or None,
        picture=picture if picture and has_picture(picture) else None,
        reason=entry.get("reason") or "",
    )


def _name(pointer: str) -> str:
    """Return a pointer as a person reads it: /items/3/price as "items, row 4, price"."""
    said: list[str] = []
    for part in pointer.split("/")[1:]:
        if part.isdecimal():
            is_row = not any(one.startswith("row ") for one in said)
            said.append(f"{'row' if is_row else 'no.'} {int(part) + 1}")
        else:
            said.append(part.replace("~1", "/").replace("~0", "~"))
    return ", ".join(said) or "value"


def _value_at(document: Any, pointer: str) -> Any:
    value: Any = document
    for part in pointer.split("/")[1:]:
        if isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(part.replace("~1", "/").replace("~0", "~"))
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(part)]
        else:
            return None
    return value


def _marked(quote: str, value: str) -> tuple[str, str, str]:
    """Return the quote in three parts, the value in the middle where the quote has it in these words."""
    at = quote.lower().find(value.lower()) if value else -1
    if at < 0 or len(quote.lower()) != len(quote):
        return quote, "", ""
    return quote[:at], quote[at : at + len(value)], quote[at + len(value) :]
