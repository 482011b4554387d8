"""Secrets on their way into fields: where a placeholder may be used, what is typed for it, and what is said of it."""

from contextlib import suppress

from pydantic import BaseModel

from appliance.actions.base import ActionContext
from appliance.browser.cdp import CdpError
from appliance.browser.effects import method
from appliance.browser.element import Element
from appliance.browser.forms import Field, ReadBack, read_back, type_text
from appliance.errors import ActionFailed
from appliance.sensitive import placeholders

NOWHERE_ELSE = frozenset(
    {"navigate", "search", "send_keys", "evaluate", "run_code_file", "http_fetch", "select_dropdown", "answer_dialog"}
)
"""Actions that would carry a secret to a place of the model's choice."""


async def fill_in(context: ActionContext, element: Element, text: str) -> str:
    """Return what is to be typed into the element: the text with the values of its placeholders.

    The field shows dots from then on. Raises ActionFailed when a name is unknown or not meant for the origin of the
    element's own document; nothing must be typed then.
    """
    if not any(True for _ in placeholders(text)):
        return text
    filled = context.sensitive.fill(text, str(await element.call(method("fields", "origin"))))
    await element.call(method("fields", "conceal"))
    return filled


async def type_secret(context: ActionContext, element: Element, field: Field, text: str, *, clear: bool) -> None:
    """Type a text that holds a secret: by keys, but inside a page of another site in one piece within the frame.

    There the page around could take the focus, and with it the rest of the keys. Typing ends when the page is left
    or another site's frame takes the focus. Raises ActionFailed, ElementGone.
    """
    around = await element.tab.evaluate("self.origin", world="isolated")
    if around == await element.call(method("fields", "origin")):
        await type_text(context.browser, element, field, text, clear=clear, warily=True)
    elif not await element.call(method("fields", "put"), text, clear):
        raise ActionFailed("The field inside the frame did not take the text, so nothing was typed.")


def refuse_elsewhere(name: str, parameters: BaseModel) -> None:
    """Raise ActionFailed when an action that is not for secrets was given a placeholder."""
    if name not in NOWHERE_ELSE:
        return
    for used in placeholders(parameters.model_dump_json()):
        raise ActionFailed(
            f'{name} was not done: the secret "{used}" can only be entered with input, into a field of its own site.'
        )


def note_cut(context: ActionContext, given: str, filled: str, found: ReadBack | None) -> None:
    """Remember what a field with a limit made of a secret: `given` has the placeholder, `filled` the value."""
    if found is not None and not found.same and found.length < len(filled):
        for name in placeholders(given):
            context.sensitive.learn_part(name, filled[: found.length])


async def note_broken_off(context: ActionContext, element: Element, given: str, filled: str) -> None:
    """Remember what a field may hold of a secret whose typing did not come to its end."""
    for name in placeholders(given):
        context.sensitive.learn_beginnings(name)
    with suppress(ActionFailed, CdpError):
        note_cut(context, given, filled, await read_back(element, filled))


def reading(found: ReadBack) -> str:
    """Say whether the field holds what was entered, without saying what."""
    if not found.length:
        return "it is empty now"
    compared = "equal to" if found.same else "unequal to"
    return f"it holds {found.length} characters, {compared} what was entered"
