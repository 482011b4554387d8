"""Fields of forms: brought into focus, filled as a person would, and read back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from appliance.browser.effects import method
from appliance.browser.keyboard import Event, insert_event, parse_keys, stroke_events, typing_events
from appliance.browser.pointer import click_events, dispatch
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser
    from appliance.browser.element import Element

FORMATS = {
    "date": "2026-03-15",
    "time": "15:30",
    "month": "2026-03",
    "week": "2026-W11",
    "datetime-local": "2026-03-15T15:30",
    "color": "#33aaff",
    "range": "a number",
}

Kind = Literal["line", "multiline", "rich", "special", "select", "toggle", "file", "none"]


@dataclass(frozen=True)
class Field:
    """A field before it is filled; `type` is an input's type, `suggests` says that a list of suggestions may open."""

    kind: Kind
    type: str
    disabled: bool
    readonly: bool
    focused: bool
    length: int
    suggests: bool


@dataclass(frozen=True)
class ReadBack:
    """A field after it was filled.

    A password's `value` is never read (`secret`); `same` compares it inside the page with what was to be there.
    `alike`: letters and digits are the same, `kept`: it still holds what it held before.
    """

    value: str
    length: int
    same: bool
    alike: bool
    kept: bool
    secret: bool
    focused: bool
    invalid: str
    maximum: int


async def look_at(element: "Element") -> Field:
    """Return what kind of field the element stands for; raises ElementGone."""
    return Field(**await element.call(method("fields", "prepare")))


async def take_focus(browser: "Browser", element: "Element", field: Field) -> None:
    """Give the field the focus with a click, or without one where something covers it.

    Raises ActionFailed when it does not get it: typing would then go somewhere else.
    """
    if field.focused:
        return
    point = await element.click_point()
    if point.covered_by is None:
        await dispatch(browser, click_events((point.x, point.y)))
        if browser.dialog is not None or (await look_at(element)).focused:
            return
    if not await element.call(method("fields", "focus")):
        raise ActionFailed("The field did not take the focus, so nothing was typed; click it first and look again.")


async def type_text(
    browser: "Browser", element: "Element", field: Field, text: str, *, clear: bool, warily: bool = False
) -> None:
    """Type into the focused field, instead of what is there or after it. Never leaves the field afterwards.

    Warily, each key is pressed only when the one before has left the focus in a document the field's page can enter.
    Raises ActionFailed or ElementGone when it has not.
    """
    if not await element.call(method("fields", "aim"), clear):
        raise ActionFailed("The field lost the focus before anything was typed; look at the page again.")
    events: list[Event] = []
    if clear and field.length and (not text or field.kind == "rich"):
        events += [event for stroke in parse_keys("Delete") for event in stroke_events(stroke)]
    events += _typing(field, text)
    if not warily:
        await dispatch(browser, events, element.tab)
        return
    for stroke in _strokes(events):
        if not await element.call(method("fields", "keepsKeys")):
            raise ActionFailed("Another site's frame took the focus while a secret was typed, so no more of it was.")
        # The click that gave the focus may have opened another tab, which is the current one by now.
        await dispatch(browser, stroke, element.tab)


def _strokes(events: list[Event]) -> Iterator[list[Event]]:
    """Yield the events of one key, or one insertion, after the other."""
    stroke: list[Event] = []
    for event in events:
        if stroke and (event[0] == "Input.insertText" or event[1].get("type") in ("keyDown", "rawKeyDown")):
            yield stroke
            stroke = []
        stroke.append(event)
    if stroke:
        yield stroke


def _typing(field: Field, text: str) -> list[Event]:
    if not text:
        return []
    if field.kind == "line":
        return list(typing_events(re.sub(r"[\r\n]+", " ", text), by_key=True))
    if field.kind == "multiline":
        text = text.replace("\r\n", "\n")
        return [insert_event(text)] if "\n" in text else list(typing_events(text, by_key=True))
    events: list[Event] = []
    # In an editor a bare line break may be lost, and Enter may send: Shift+Enter is a line break everywhere.
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            events += [event for stroke in parse_keys("Shift+Enter") for event in stroke_events(stroke)]
        if line:
            events.append(insert_event(line))
    return events


async def read_back(element: "Element", expected: str) -> ReadBack:
    """Return the field's content now; raises ElementGone when it is not on the page any more."""
    found: dict[str, Any] | None = await element.call(method("fields", "read"), expected)
    if found is None:
        raise ActionFailed("The field went away while it was filled; look at the page again.")
    return ReadBack(**found)


async def set_value(element: "Element", field: Field, text: str) -> str:
    """Set a date, time, colour or range field and return its value; raises ActionFailed naming the form it wants."""
    wanted = text.strip()
    if field.type == "datetime-local":
        wanted = wanted.replace(" ", "T", 1)
    found = await element.call(method("fields", "setSpecial"), wanted)
    after = str(found["after"])
    if wanted and not after:
        raise ActionFailed(
            f"The {field.type} field did not take {text!r} and is empty now; write it like {FORMATS[field.type]}."
        )
    is_refused_colour = field.type == "color" and after == "#000000" and wanted.lower() not in ("#000000", "black")
    if is_refused_colour or (field.type == "range" and not _equal_numbers(after, wanted)):
        limits = f" (from {found['minimum'] or 0} to {found['maximum'] or 100})" if field.type == "range" else ""
        raise ActionFailed(
            f"The {field.type} field made {after!r} of {text!r}; write {FORMATS[field.type]}{limits}, such as the "
            "field allows."
        )
    return after


def _equal_numbers(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return False
