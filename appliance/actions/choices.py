"""Actions on lists of choices: selects, and lists that pages build themselves."""

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, named, receipt, sentence
from appliance.browser.connection import Browser
from appliance.browser.effects import Effect, Watch
from appliance.browser.element import Element
from appliance.browser.forms import Choice, Choices, choose_native, click_choice, read_choices
from appliance.browser.pointer import click_events, dispatch
from appliance.errors import ActionFailed
from appliance.words import ReceiptStatus

MAX_SHOWN = 200


class DropdownOptions(Parameters):
    """Parameters of dropdown_options."""

    index: int


class SelectDropdown(Parameters):
    """Parameters of select_dropdown."""

    index: int
    text: str | list[str]


async def _dropdown_options(context: ActionContext, parameters: DropdownOptions) -> Receipt:
    element = context.browser.element(parameters.index)
    choices = await _opened(context.browser, element)
    lines = [_line(entry) for entry in choices.entries[:MAX_SHOWN]]
    if len(choices.entries) > MAX_SHOWN:
        lines.append(f"… and {len(choices.entries) - MAX_SHOWN} more")
    chosen = ", ".join(choices.chosen) or "none"
    text = f"{named(element)} has {len(choices.entries)} entries; chosen: {chosen}."
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(lines), ends_chain=choices.kind == "aria")


async def _select_dropdown(context: ActionContext, parameters: SelectDropdown) -> Receipt:
    browser = context.browser
    element = browser.element(parameters.index)
    wanted = [parameters.text] if isinstance(parameters.text, str) else list(parameters.text)
    await element.scroll_into_view()
    watch = await Watch.start(browser, element)
    try:
        choices = await _opened(browser, element)
        if choices.disabled:
            raise ActionFailed(f"{named(element)} is disabled, so nothing was chosen.")
        if len(wanted) > 1 and not choices.multiple:
            raise ActionFailed(f"{named(element)} takes one entry only, not {len(wanted)}.")
        entries = [_match(choices, text, element) for text in wanted]
        if choices.kind == "native":
            return await _choose_native(context, watch, element, (choices, entries, isinstance(parameters.text, list)))
        if choices.kind == "datalist":
            raise ActionFailed(f"{named(element)} is a field with suggestions: use input with the text of an entry.")
        return await _choose_by_click(context, watch, element, (choices, entries))
    except BaseException:
        watch.stop()
        raise


async def _choose_native(
    context: ActionContext, watch: Watch, element: Element, wish: tuple[Choices, list[Choice], bool]
) -> Receipt:
    """Choose in a select. A single text adds to the choice of a multiple one, a list is the whole choice."""
    before, entries, is_whole = wish
    positions = [entry.position for entry in entries]
    if before.multiple and not is_whole:
        positions += [entry.position for entry in before.entries if entry.chosen and entry.position not in positions]
    await choose_native(element, positions)
    effect = await finish(context, watch)
    if effect.needs_decision or effect.ends_chain:
        return receipt(_lead(entries, element), effect, always_counts=True)
    after = await read_choices(element)
    missing = [entry.text for entry in entries if entry.text not in after.chosen]
    now = f"chosen now: {', '.join(after.chosen) or 'none'}"
    if missing:
        text = f"{named(element)} did not keep {', '.join(missing)}, the page set it back; {now}."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    if after.chosen == before.chosen:
        text = f"{', '.join(entry.text for entry in entries)} was chosen already in {named(element)}; {now}."
        return Receipt(ReceiptStatus.NO_EFFECT, text)
    return Receipt(ReceiptStatus.OK, sentence(_lead(entries, element), [now, *_others(effect)]))


async def _choose_by_click(
    context: ActionContext, watch: Watch, element: Element, wish: tuple[Choices, list[Choice]]
) -> Receipt:
    """Choose in a list of the page's own by clicking its entries, opening it again where it closes after each."""
    browser, (choices, entries) = context.browser, wish
    for number, entry in enumerate(entries):
        if choices.multiple and entry.chosen:
            continue
        if number:
            await browser.settle(1.0)
            entry = _match(await _opened(browser, element), entry.text, element)  # noqa: PLW2901
        await click_choice(browser, element, entry.position)
        if browser.dialog is not None:
            break
    effect = await finish(context, watch)
    return receipt(_lead(entries, element), effect)


async def _opened(browser: Browser, element: Element) -> Choices:
    """Return the entries, clicking the element when its list is not open; raises ActionFailed when there is none."""
    choices = await read_choices(element)
    if choices.entries:
        return choices
    if choices.kind == "aria":
        point = await element.click_point()
        if point.covered_by is not None:
            raise ActionFailed(f"{named(element)} is covered by {point.covered_by}; close or move that first.")
        await dispatch(browser, click_events((point.x, point.y)))
        await browser.settle(2.0)
        choices = await read_choices(element) if browser.dialog is None else choices
    if not choices.entries:
        raise ActionFailed(f"{named(element)} has no list of entries; click it and look at the page.")
    return choices


def _match(choices: Choices, wanted: str, element: Element) -> Choice:
    """Return the entry meant: by text, then by value, then by the only text that contains the words."""
    words = " ".join(wanted.split()).casefold()
    by_text = [entry for entry in choices.entries if entry.text.casefold() == words]
    by_value = [entry for entry in choices.entries if entry.value.casefold() == words]
    by_part = [entry for entry in choices.entries if words and words in entry.text.casefold()]
    found = by_text or by_value or (by_part if len(by_part) == 1 else [])
    usable = [entry for entry in found if not entry.disabled]
    if usable:
        return usable[0]
    if found:
        raise ActionFailed(f'"{found[0].text}" in {named(element)} is disabled, so it was not chosen.')
    near = by_part or choices.entries
    texts = ", ".join(f'"{entry.text}"' for entry in near[:20])
    reason = "fits several entries" if by_part else "is not an entry"
    raise ActionFailed(f'"{wanted}" {reason} of {named(element)}; there are: {texts}{", …" if len(near) > 20 else ""}.')


def _others(effect: Effect) -> list[str]:
    return [fact for fact in effect.facts if not fact.startswith(("chosen changed", "its text changed"))]


def _lead(entries: list[Choice], element: Element) -> str:
    return f"Chose {', '.join(entry.text for entry in entries)} in {named(element)}"


def _line(entry: Choice) -> str:
    marks = [mark for mark, is_on in (("chosen", entry.chosen), ("disabled", entry.disabled)) if is_on]
    value = f" (value {entry.value})" if entry.value and entry.value != entry.text else ""
    group = f"{entry.group} / " if entry.group else ""
    return f"{group}{entry.text}{value}{' [' + ', '.join(marks) + ']' if marks else ''}"


DROPDOWN_OPTIONS = Action(
    "dropdown_options", "Show the entries of a list and which are chosen.", DropdownOptions, _dropdown_options
)
SELECT_DROPDOWN = Action(
    "select_dropdown",
    "Choose an entry of a list by its text. Where several can be chosen, a text is added, a list replaces.",
    SelectDropdown,
    _select_dropdown,
)
