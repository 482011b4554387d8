"""Actions that fill fields, press keys, give files and answer dialogs."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, named, not_sent, receipt, sentence
from appliance.actions.secrets import fill_in, note_broken_off, note_cut, reading, type_secret
from appliance.browser.dialogs import answer, describe
from appliance.browser.effects import Effect, Watch
from appliance.browser.element import Element
from appliance.browser.forms import Field, ReadBack, look_at, read_back, set_value, take_focus, type_text
from appliance.browser.keyboard import parse_keys, stroke_events
from appliance.browser.lists import SUGGESTION_SECONDS
from appliance.browser.pointer import dispatch
from appliance.browser.uploads import give_files
from appliance.errors import ActionFailed, ActionInvalid
from appliance.sensitive import placeholders
from appliance.words import ReceiptStatus


class Input(Parameters):
    """Parameters of input."""

    index: int
    text: str
    clear: bool = True
    submit: bool = False


class SendKeys(Parameters):
    """Parameters of send_keys."""

    keys: str


class UploadFile(Parameters):
    """Parameters of upload_file."""

    index: int
    path: str | list[str]


class AnswerDialog(Parameters):
    """Parameters of answer_dialog."""

    accept: bool
    text: str | None = None


async def _input(context: ActionContext, parameters: Input) -> Receipt:
    browser = context.browser
    element = browser.element(parameters.index)
    await element.scroll_into_view()
    field = await look_at(element)
    _refuse(element, field)
    text = await fill_in(context, element, parameters.text)
    watch = await Watch.start(browser, element)
    try:
        expected = text
        if field.kind == "special":
            expected = await set_value(element, field, text)
        else:
            await take_focus(browser, element, field)
            if browser.dialog is None and text != parameters.text:
                try:
                    await type_secret(context, element, field, text, clear=parameters.clear)
                except BaseException:
                    await note_broken_off(context, element, parameters.text, text)
                    raise
            elif browser.dialog is None:
                await type_text(browser, element, field, text, clear=parameters.clear)
        found = await read_back(element, expected) if browser.dialog is None else None
        note_cut(context, parameters.text, text, found)
        if parameters.submit and browser.dialog is None:
            watch.stop()
            watch = await Watch.start(browser, element)
            await dispatch(browser, _key_events("Enter"), element.tab)
    except BaseException:
        watch.stop()
        raise
    if parameters.submit:
        return _input_receipt(element, parameters, found, not_sent(await finish(context, watch)))
    pause = SUGGESTION_SECONDS if field.suggests else 0
    effect = await finish(context, watch, at_least=pause)
    if found is not None and not effect.needs_decision:
        # What the page makes of a value it often makes a moment later.
        with suppress(ActionFailed):
            found = await read_back(element, expected)
    return _input_receipt(element, parameters, found, effect)


def _input_receipt(element: Element, parameters: Input, found: ReadBack | None, effect: Effect) -> Receipt:
    lead = f"Entered text into {named(element)}" if parameters.text else f"Cleared {named(element)}"
    if found is None or effect.needs_decision:
        return receipt(lead, effect)
    status = ReceiptStatus.OK
    if parameters.text and (not found.length or found.kept):
        status = ReceiptStatus.FAILED
    has_secret = any(True for _ in placeholders(parameters.text))
    facts = [reading(found) if has_secret else _reading(found, parameters)]
    if found.invalid and status is ReceiptStatus.OK:
        facts.append(f"the page says: {found.invalid.rstrip('.')}")
    if parameters.submit:
        facts.append("pressed Enter")
        if not effect.is_visible:
            facts.append("which had no visible effect")
    facts += [fact for fact in effect.facts if not fact.startswith("value changed") and "has the focus" not in fact]
    return Receipt(status, sentence(lead, facts), ends_chain=effect.ends_chain or status is not ReceiptStatus.OK)


def _reading(found: ReadBack, parameters: Input) -> str:
    if found.secret:
        matches = "as entered" if found.same else "which differ from what was entered"
        return f"it holds {found.length} characters{matches if not parameters.clear else ', ' + matches}"
    value = " ⏎ ".join(found.value.splitlines())
    value = value if found.length <= 200 else f"{value[:200]}… ({found.length} characters)"
    reading = f'it now reads "{value}"' if found.length else "it is empty now"
    if found.kept:
        return f"the field took nothing of it, {reading.replace('it now reads', 'it still reads')}"
    if parameters.clear and not found.same:
        limit = f", the field takes at most {found.maximum} characters" if found.maximum else ""
        reading += ", the text in the form of the page" if found.alike else ", which differs from the text entered"
        reading += limit
    return reading


def _refuse(element: Element, field: Field) -> None:
    """Raise ActionFailed for what cannot be typed into, saying what to do instead."""
    instead = {
        "select": "is a list: use select_dropdown",
        "file": "takes a file: use upload_file",
        "toggle": "is a box or radio button: use click",
        "none": "is not a field that takes text",
    }.get(field.kind)
    if instead is None and field.disabled:
        instead = "is disabled, so nothing was entered"
    if instead is None and field.readonly:
        instead = "is read-only, so nothing was entered; if it opens a picker, click it and choose there"
    if instead is not None:
        raise ActionFailed(f"{named(element)} {instead}.")


async def _send_keys(context: ActionContext, parameters: SendKeys) -> Receipt:
    events = _key_events(parameters.keys)
    watch = await Watch.start(context.browser)
    try:
        await dispatch(context.browser, events)
    except BaseException:
        watch.stop()
        raise
    effect = await finish(context, watch)
    if parameters.keys.split()[-1:] in (["Enter"], ["Return"]):
        effect = not_sent(effect)
    return receipt(f"Pressed {parameters.keys.strip() or 'Space'}", effect)


async def _upload_file(context: ActionContext, parameters: UploadFile) -> Receipt:
    browser = context.browser
    wanted = [parameters.path] if isinstance(parameters.path, str) else parameters.path
    paths = [_uploadable(context, one) for one in wanted]
    if not paths:
        raise ActionInvalid("path names no file.")
    element = browser.element(parameters.index)
    await element.scroll_into_view()
    watch = await Watch.start(browser, element)
    try:
        way = await give_files(browser, element, paths)
    except BaseException:
        watch.stop()
        raise
    effect = await finish(context, watch)
    facts = [fact for fact in effect.facts if not fact.startswith("the page asks for a file")]
    names = ", ".join(f"{path.name} ({path.stat().st_size} bytes)" for path in paths)
    verb = "Dropped {} on {}" if way == "drop" else "Gave {} to {}"
    text = sentence(verb.format(names, named(element)), facts)
    status = ReceiptStatus.NEEDS_DECISION if effect.needs_decision else ReceiptStatus.OK
    return Receipt(status, text, ends_chain=effect.ends_chain)


def _uploadable(context: ActionContext, wanted: str) -> Path:
    """Return the path of a file of this session; raises ActionFailed for any other."""
    sources: list[Callable[[str], Path]] = [context.files.path_of, context.browser.downloads.path_of]
    folders = [context.scratchpad.root, context.browser.downloads.folder]
    given = Path(wanted)
    # A full path is fine when it is that of a file of ours; nothing outside is ever looked at.
    if given.is_absolute() and given.parent not in [folder.absolute() for folder in folders if folder is not None]:
        raise ActionFailed(f"{wanted} is not a file of this session; only scratchpad files and downloads can be given.")
    for find in sources:
        try:
            path = find(given.name if given.is_absolute() else wanted)
        except ActionFailed:
            continue
        if not path.stat().st_size:
            raise ActionFailed(f"{path.name} is empty, so it was not given.")
        return path
    if wanted in [one.name for one in context.browser.downloads.running]:
        raise ActionFailed(f"The download of {wanted} is not complete yet; wait for it with wait_for and download.")
    names = [entry.name for entry in context.files.listing()]
    names += [one.name for one in context.browser.downloads.all if one.state == "complete"]
    there = f"there are: {', '.join(names)}." if names else "there are none; write or download it first."
    raise ActionFailed(f"There is no file {wanted!r} in the scratchpad or among the downloads; {there}")


async def _answer_dialog(context: ActionContext, parameters: AnswerDialog) -> Receipt:
    browser, watch = context.browser, context.watch
    url, tab_id = browser.tab.url, browser.tab.tab_id
    dialog = await answer(browser, accept=parameters.accept, text=parameters.text)
    verb = "Accepted" if parameters.accept else "Dismissed"
    lead = f'{verb} the {dialog.kind} dialog "{dialog.message[:200]}"'
    if dialog.kind == "beforeunload":
        lead = "Agreed to leave the page" if parameters.accept else "Stayed on the page"
    if watch is not None:
        context.watch = None
        effect = await finish(context, watch)
        done = receipt(lead, effect, always_counts=True)
        return Receipt(done.status, done.text if effect.facts else f"{lead}.", ends_chain=True)
    await browser.settle(1.0)
    if browser.dialog is not None:
        text = f"{lead}: now {describe(browser.dialog)}; answer it too."
        return Receipt(ReceiptStatus.NEEDS_DECISION, text, ends_chain=True)
    facts = [] if browser.tab.url == url else [f"navigated from {url} to {browser.tab.url}"]
    facts += [] if browser.tab.tab_id == tab_id else [f"now in tab {browser.tab.tab_id}"]
    return Receipt(ReceiptStatus.OK, sentence(lead, facts), ends_chain=True)


def _key_events(keys: str) -> list[tuple[str, dict[str, object]]]:
    return [event for stroke in parse_keys(keys) for event in stroke_events(stroke)]


INPUT = Action(
    "input",
    "Enter text into a field in place of what is there (clear false: after it); submit presses Enter. Dates are "
    "written 2026-03-15, times 15:30.",
    Input,
    _input,
)
SEND_KEYS = Action(
    "send_keys",
    "Press keys where the focus is: Enter, Tab, Escape, ArrowDown, Control+A; several with spaces between.",
    SendKeys,
    _send_keys,
)
UPLOAD_FILE = Action(
    "upload_file", "Give a scratchpad file or download to a file field or upload button.", UploadFile, _upload_file
)
ANSWER_DIALOG = Action(
    "answer_dialog",
    "Answer the open dialog: accept is OK, otherwise Cancel; text is for a prompt.",
    AnswerDialog,
    _answer_dialog,
    touches_page=False,
)
