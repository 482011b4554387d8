"""Lists of choices, native or built by the page: read, scrolled through, searched, and chosen from."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from appliance.browser.effects import method
from appliance.browser.forms import look_at, take_focus, type_text
from appliance.browser.pointer import click_events, dispatch
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser
    from appliance.browser.element import Element

SCAN_SECONDS = 15.0
"""How long a list that draws its entries while it is scrolled is gone through."""
SUGGESTION_SECONDS = 0.45
"""How long a field that suggests is given to show its list: pages wait for a pause in typing first."""
OPEN_SECONDS = 2.0


@dataclass(frozen=True)
class Choice:
    """One entry of a list; `at` is how far its list was scrolled when it was seen, in CSS pixels."""

    text: str
    value: str
    chosen: bool
    disabled: bool
    group: str
    at: float = 0


@dataclass(frozen=True)
class Choices:
    """A list of choices.

    `kind`: a select, a datalist, what ARIA says is a list, or what simply came into view when its control was clicked.
    `complete` is False when the list is so long that only a part of it was seen.
    """

    kind: Literal["native", "datalist", "aria", "plain"]
    multiple: bool
    disabled: bool
    entries: tuple[Choice, ...]
    complete: bool = True

    @property
    def chosen(self) -> tuple[str, ...]:
        """The texts of the chosen entries."""
        return tuple(entry.text for entry in self.entries if entry.chosen)


async def read_choices(element: "Element") -> Choices:
    """Return the entries that show of the list that the element is, opens or controls; raises ElementGone."""
    return _choices(await element.call(method("lists", "options")))


async def open_choices(browser: "Browser", element: "Element") -> Choices:
    """Return the entries, clicking the element when its list is not open; there are none when it has no list."""
    choices = await read_choices(element)
    for _ in range(2):
        if choices.entries or choices.kind == "native" or choices.disabled:
            break
        await element.call(method("lists", "mark"))
        await click_element(browser, element)
        await browser.settle(OPEN_SECONDS)
        if browser.dialog is not None:
            break
        choices = await read_choices(element)
        if not choices.entries and not await element.call(method("lists", "hasClosed")):
            break
    return choices


async def forget_choices(element: "Element") -> None:
    """Forget what opened when some control was clicked in an earlier action."""
    await element.call(method("lists", "forget"))


async def scan_choices(element: "Element") -> Choices:
    """Return all entries, scrolling through a list that draws or loads only some of them at a time."""
    found = await element.call(method("lists", "scan"), round(SCAN_SECONDS * 1000), timeout=SCAN_SECONDS + 5)
    return _choices(found)


async def search_choices(browser: "Browser", element: "Element", text: str) -> Choices | None:
    """Type into the field that narrows the list down and return what is left; None when there is no such field."""
    field = await element.part(method("lists", "searchField"))
    if field is None:
        return None
    kind = await look_at(field)
    await take_focus(browser, field, kind)
    await type_text(browser, field, kind, text, clear=True)
    await browser.settle(OPEN_SECONDS, at_least=SUGGESTION_SECONDS)
    return await read_choices(element)


async def choose_native(element: "Element", choices: Choices, entries: list[Choice]) -> None:
    """Choose exactly these entries of a select, as its own list does: input and change follow."""
    await element.call(method("lists", "choose"), [choices.entries.index(entry) for entry in entries])


async def click_choice(browser: "Browser", element: "Element", entry: Choice) -> None:
    """Click an entry of an open list; raises ActionFailed when it cannot be reached."""
    node = await element.part(method("lists", "node"), asdict(entry))
    if node is None:
        raise ActionFailed(f'The entry "{entry.text}" went away before it was clicked; look at the page again.')
    await click_element(browser, node)


async def click_element(browser: "Browser", element: "Element") -> None:
    """Click the element; raises ActionFailed naming what covers it."""
    point = await element.click_point()
    if point.covered_by is not None:
        raise ActionFailed(f"It is covered by {point.covered_by}, so nothing was chosen; close or move that first.")
    await dispatch(browser, click_events((point.x, point.y)))


def _choices(found: dict[str, Any]) -> Choices:
    entries = found.pop("entries")
    return Choices(**found, entries=tuple(Choice(**entry) for entry in entries))
