"""Files given to a page: to its file field, or to the chooser that a button of it opens."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError, CdpTimeout
from appliance.browser.pointer import click_events, dispatch
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser
    from appliance.browser.element import Element

CHOOSER_SECONDS = 3.0


def hold_choosers(browser: "Browser") -> None:
    """Keep the desktop's own file chooser closed in the current tab, where nobody could answer it.

    Takes effect before whatever is sent next; nothing has to be waited for.
    """
    browser.cdp.post("Page.setInterceptFileChooserDialog", {"enabled": True}, browser.tab.session_id)


async def give_files(browser: "Browser", element: "Element", paths: Sequence[Path]) -> None:
    """Put files into the file field that the element is or opens.

    Raises ActionFailed when it neither is a file field nor opens a chooser.
    """
    if element.view.tag == "input" and await element.call("function() { return this.type === 'file'; }"):
        await _set_files(element, await element.backend_node_id(), paths)
        return
    session_id = browser.tab.session_id
    hold_choosers(browser)
    point = await element.click_point()
    if point.covered_by is not None:
        raise ActionFailed(f"The element is covered by {point.covered_by}, so no file chooser could be opened with it.")
    asked = asyncio.create_task(
        browser.cdp.wait_for("Page.fileChooserOpened", lambda _, session: session == session_id, CHOOSER_SECONDS)
    )
    await dispatch(browser, click_events((point.x, point.y)))
    try:
        opened = await asked
    except CdpTimeout:
        raise ActionFailed("Clicking the element opened no file chooser; give the index of the file field.") from None
    if len(paths) > 1 and opened.get("mode") != "selectMultiple":
        raise ActionFailed("The page takes one file only.")
    await _set_files(element, int(opened["backendNodeId"]), paths)


async def _set_files(element: "Element", backend_node_id: int, paths: Sequence[Path]) -> None:
    params = {"files": [str(path.absolute()) for path in paths], "backendNodeId": backend_node_id}
    try:
        await element.send("DOM.setFileInputFiles", params)
    except CdpError as error:
        raise ActionFailed(f"The page did not take the file ({error.message})") from error
