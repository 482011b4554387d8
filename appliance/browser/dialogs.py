"""Answering the dialogs a page opens (alert, confirm, prompt, leaving); they are never answered by themselves."""

from typing import TYPE_CHECKING, Any

from appliance.browser.cdp import CdpError
from appliance.browser.tab import DialogView
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

MAX_MESSAGE = 500


def describe(dialog: DialogView) -> str:
    """Return a clause such as: a confirm dialog is open: "Delete everything?"."""
    if dialog.kind == "beforeunload":
        return "a dialog is open that asks whether to leave this page and lose what was entered"
    article = "an" if dialog.kind == "alert" else "a"
    preset = f' (preset text "{dialog.default_prompt}")' if dialog.default_prompt else ""
    return f'{article} {dialog.kind} dialog is open: "{dialog.message[:MAX_MESSAGE]}"{preset}'


async def answer(browser: "Browser", *, accept: bool, text: str | None = None) -> DialogView:
    """Press OK (or Cancel) in the open dialog and return it; raises ActionFailed when none is open.

    Without a text a prompt is answered with its preset one.
    """
    dialog = browser.dialog
    if dialog is None:
        raise ActionFailed("There is no dialog to answer; it may have closed by itself.")
    params: dict[str, Any] = {"accept": accept}
    if accept and dialog.kind == "prompt":
        params["promptText"] = dialog.default_prompt if text is None else text
    try:
        await dialog.tab.send("Page.handleJavaScriptDialog", params, timeout=5.0)
    except CdpError as error:
        raise ActionFailed("The dialog could not be answered; it had closed already.") from error
    return dialog
