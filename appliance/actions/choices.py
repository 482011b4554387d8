"""Actions on lists of choices: selects, and lists that pages build themselves."""

from dataclasses import dataclass

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, named, receipt, sentence
from appliance.browser.connection import Browser
from appliance.browser.effects import Effect, Watch
from appliance.browser.element import Element
from appliance.browser.lists import (
    Choice,
    Choices,
    choose_native,
    click_choice,
    forget_choices,
    open_choices,
    read_choices,
    scan_choices,
    search_choices,
)
from appliance.errors import ActionFailed
from appliance.words import ReceiptStatus

MAX_SHOWN = 200
LIST_SECONDS = 60.0


class DropdownOptions(Parameters):
    """Parameters of dropdown_options."""

    index: int


class SelectDropdown(Parameters):
    """Parameters of select_dropdown."""

    index: int
    text: str | list[str]


@dataclass(frozen=True)
class Wish:
    """What is to be chosen: a single text is added to what is chosen in a list for several, a list replaces it."""

    texts: tuple[str, ...]
    is_whole: bool


async def _dropdown_options(context: ActionContext, parameters: DropdownOptions) -> Receipt:
    element = context.browser.element(parameters.index)
    await element.scroll_into_view()
    await forget_choices(element)
    choices = await _opened(context.browser, element)
    if choices.kind == "aria":
        choices = await scan_choices(element)
    lines = [_line(entry) for entry in choices.entries[:MAX_SHOWN]]
    if len(choices.entries) > MAX_SHOWN:
        lines.append(f"… and {len(choices.entries) - MAX_SHOWN} more")
    chosen = ", ".join(choices.chosen) or "none"
    count = f"{len(choices.entries)}" if choices.complete else f"more than {len(choices.entries)}"
    several = ", several can be chosen" if choices.multiple else ""
    text = f"{named(element)} has {count} entries{several}; chosen: {chosen}."
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(lines), ends_chain=choices.kind in ("aria", "plain"))


async def _select_dropdown(context: ActionContext, parameters: SelectDropdown) -> Receipt:
    browser = context.browser
    element = browser.element(parameters.index)
    is_whole = not isinstance(parameters.text, str)
    wish = Wish(tuple(parameters.text) if is_whole else (str(parameters.text),), is_whole)
    await element.scroll_into_view()
    await forget_choices(element)
    watch = await Watch.start(browser, element)
    try:
        choices = await _opened(browser, element, may_be_empty=True)
        if len(wish.texts) > 1 and not choices.multiple:
            raise ActionFailed(f"{named(element)} takes one entry only, not {len(wish.texts)}.")
        if not wish.texts and not choices.multiple:
            raise ActionFailed(f"{named(element)} takes one entry; give its text.")
        if choices.kind == "native":
            return await _choose_native(context, watch, element, (choices, wish))
        if choices.kind == "datalist":
            raise ActionFailed(f"{named(element)} is a field with suggestions: use input with the text of an entry.")
        return await _choose_by_click(context, watch, element, wish)
    except BaseException:
        watch.stop()
        raise


async def _choose_native(
    context: ActionContext, watch: Watch, element: Element, given: tuple[Choices, Wish]
) -> Receipt:
    before, wish = given
    wanted = [_match(before, text, element) for text in wish.texts]
    keep = [entry for entry in before.entries if entry.chosen] if before.multiple and not wish.is_whole else []
    await choose_native(element, before, [*wanted, *(entry for entry in keep if entry not in wanted)])
    effect = await finish(context, watch)
    if effect.needs_decision or effect.ends_chain:
        return receipt(_lead(wanted, element), effect, always_counts=True)
    after = await read_choices(element)
    missing = [entry.text for entry in wanted if entry.text not in after.chosen]
    now = f"chosen now: {', '.join(after.chosen) or 'none'}"
    if missing:
        text = f"{named(element)} did not keep {', '.join(missing)}, the page set it back; {now}."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    if after.chosen == before.chosen:
        text = (
            f"{', '.join(entry.text for entry in wanted) or 'Nothing'} was chosen already in {named(element)}; {now}."
        )
        return Receipt(ReceiptStatus.NO_EFFECT, text)
    return Receipt(ReceiptStatus.OK, sentence(_lead(wanted, element), [now, *_others(effect)]))


async def _choose_by_click(context: ActionContext, watch: Watch, element: Element, wish: Wish) -> Receipt:
    """Choose in a list of the page's own by clicking its entries, opening it again where it closes after each."""
    browser = context.browser
    wanted = [await _find(browser, element, text) for text in wish.texts]
    choices = await _opened(browser, element)
    clicks = [entry for entry in wanted if not (choices.multiple and entry.chosen)]
    if choices.multiple and wish.is_whole:
        names = [entry.text for entry in wanted]
        every = await scan_choices(element)
        clicks += [entry for entry in every.entries if entry.chosen and entry.text not in names]
    for number, entry in enumerate(clicks):
        if number:
            await browser.settle(1.0)
            await _opened(browser, element)
        await click_choice(browser, element, entry)
        if browser.dialog is not None:
            break
    effect = await finish(context, watch)
    done = receipt(_lead(wanted, element), effect, always_counts=not clicks)
    if not choices.multiple or effect.needs_decision:
        return done
    try:
        after = await read_choices(element)
    except ActionFailed:
        return done
    return _with_chosen(done, element, wanted, after)


def _with_chosen(done: Receipt, element: Element, wanted: list[Choice], after: Choices) -> Receipt:
    """Add what is chosen now in a list for several that is still open."""
    if after.kind != "aria":
        return done
    now = f"chosen now: {', '.join(after.chosen) or 'none'}"
    shown = {entry.text for entry in after.entries}
    missing = [entry.text for entry in wanted if entry.text in shown and entry.text not in after.chosen]
    if missing:
        text = f"{named(element)} did not keep {', '.join(missing)}; {now}."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    return Receipt(done.status, f"{done.text.rstrip('.')}; {now}.", ends_chain=done.ends_chain)


async def _find(browser: Browser, element: Element, text: str) -> Choice:
    """Return the entry meant: among those that show, then in the whole list, then by searching for it."""
    choices = await open_choices(browser, element)
    if _exact(choices, text) or choices.kind not in ("aria", "plain"):
        return _match(choices, text, element)
    whole = await scan_choices(element) if choices.entries else choices
    try:
        return _match(whole, text, element)
    except ActionFailed as error:
        narrowed = await _search(browser, element, text)
        if narrowed is not None and (_exact(narrowed, text) or len(_containing(narrowed, text)) == 1):
            return _match(narrowed, text, element)
        if narrowed is not None:
            await _search(browser, element, "")
        if whole.entries or (narrowed is not None and narrowed.entries):
            raise
        raise _no_list(element) from error


async def _search(browser: Browser, element: Element, text: str) -> Choices | None:
    """Return what the list's search field leaves of it; None when it has none that can be typed into."""
    try:
        return await search_choices(browser, element, text)
    except ActionFailed:
        return None


async def _opened(browser: Browser, element: Element, *, may_be_empty: bool = False) -> Choices:
    """Return the open list of the element; raises ActionFailed when it has none."""
    choices = await open_choices(browser, element)
    if choices.disabled:
        raise ActionFailed(f"{named(element)} is disabled, so nothing was chosen.")
    if not choices.entries and not may_be_empty:
        raise _no_list(element)
    return choices


def _no_list(element: Element) -> ActionFailed:
    return ActionFailed(f"{named(element)} has no list of entries; click it and look at the page.")


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _exact(choices: Choices, wanted: str) -> list[Choice]:
    words = _folded(wanted)
    by_text = [entry for entry in choices.entries if _folded(entry.text) == words]
    return by_text or [entry for entry in choices.entries if entry.value.casefold() == words]


def _containing(choices: Choices, wanted: str) -> list[Choice]:
    words = _folded(wanted)
    return [entry for entry in choices.entries if words and words in _folded(entry.text)]


def _match(choices: Choices, wanted: str, element: Element) -> Choice:
    """Return the entry meant: by text, then by value, then by the only text that contains the words."""
    by_part = _containing(choices, wanted)
    found = _exact(choices, wanted) or (by_part if len(by_part) == 1 else [])
    usable = [entry for entry in found if not entry.disabled]
    if usable:
        return usable[0]
    if found:
        raise ActionFailed(f'"{found[0].text}" in {named(element)} is disabled, so it was not chosen.')
    near = by_part or choices.entries
    texts = ", ".join(f'"{entry.text}"' for entry in near[:20])
    reason = "fits several entries" if by_part else "is not an entry"
    raise ActionFailed(
        f'"{wanted}" {reason} of {named(element)}; there are: {texts}{", …" if len(near) > 20 else ""}.',
        lasting=f'"{wanted}" {reason} of {named(element)}.',
    )


def _others(effect: Effect) -> list[str]:
    return [fact for fact in effect.facts if not fact.startswith(("chosen changed", "its text changed"))]


def _lead(entries: list[Choice], element: Element) -> str:
    return f"Chose {', '.join(entry.text for entry in entries) or 'nothing'} in {named(element)}"


def _line(entry: Choice) -> str:
    marks = [mark for mark, is_on in (("chosen", entry.chosen), ("disabled", entry.disabled)) if is_on]
    value = f" (value {entry.value})" if entry.value and entry.value != entry.text else ""
    group = f"{entry.group} / " if entry.group else ""
    return f"{group}{entry.text}{value}{' [' + ', '.join(marks) + ']' if marks else ''}"


DROPDOWN_OPTIONS = Action(
    "dropdown_options",
    "Show the entries of a list and which are chosen.",
    DropdownOptions,
    _dropdown_options,
    deadline=LIST_SECONDS,
)
SELECT_DROPDOWN = Action(
    "select_dropdown",
    "Choose an entry of a list by its text. Where several can be chosen, a text is added, a list replaces.",
    SelectDropdown,
    _select_dropdown,
    deadline=LIST_SECONDS,
)
