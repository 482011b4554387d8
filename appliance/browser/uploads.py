"""Files given to a page: to its file field, to the chooser a button opens, or dropped where the page takes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from appliance.browser.cdp import CdpError
from appliance.browser.effects import method
from appliance.browser.pointer import Spot, click_events, dispatch
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser
    from appliance.browser.element import Element

Way = Literal["field", "chooser", "drop"]
"""How the files came to the page."""

SETTLE_SECONDS = 3.0


async def give_files(browser: "Browser", element: "Element", paths: Sequence[Path]) -> Way:
    """Put files into the file field that the element is, stands for or opens, or drop them on it; returns how.

    Raises ActionFailed when the page takes no file there, or one only.
    """
    if await element.call(method("uploads", "isDisabled")):
        raise ActionFailed("The element is disabled, so no file was given.")
    takes_several = await element.call(method("uploads", "takesSeveral"))
    if takes_several is not None:
        _check_number(paths, takes_several=takes_several)
        field = await element.backend_node_id(method("uploads", "field"))
        await _set_files(element, field, element.world.session_id, paths)
        return "field"
    point = await element.click_point()
    if point.covered_by is not None:
        raise ActionFailed(f"The element is covered by {point.covered_by}, so no file chooser could be opened with it.")
    spot = (point.x, point.y)
    opened = await _open_chooser(browser, spot)
    if opened is None:
        await _drop(browser, element, spot, paths)
        return "drop"
    params, session_id = opened
    _check_number(paths, takes_several=params.get("mode") == "selectMultiple")
    await _set_files(element, int(params["backendNodeId"]), session_id, paths)
    return "chooser"


async def _open_chooser(browser: "Browser", spot: Spot) -> tuple[dict[str, Any], str] | None:
    """Click and return what the page says of the file chooser that it opens, and the session that says so."""
    frames = browser.tab.frames
    opened: list[tuple[dict[str, Any], str]] = []

    def take(params: dict[str, Any], session_id: str) -> None:
        if frames.has_session(session_id):
            opened.append((params, session_id))

    stop = browser.cdp.on("Page.fileChooserOpened", take)
    try:
        await dispatch(browser, click_events(spot))
        # What the click has led to is known once the page is quiet; a chooser is told of before that.
        if not opened and browser.dialog is None:
            await browser.settle(SETTLE_SECONDS)
    finally:
        stop()
    return opened[0] if opened else None


async def _drop(browser: "Browser", element: "Element", spot: Spot, paths: Sequence[Path]) -> None:
    data = {"items": [], "files": [str(path.absolute()) for path in paths], "dragOperationsMask": 1}

    def events(*kinds: str) -> list[tuple[str, dict[str, Any]]]:
        return [("Input.dispatchDragEvent", {"type": kind, "x": spot[0], "y": spot[1], "data": data}) for kind in kinds]

    is_taken = False
    if browser.dialog is None:
        await element.call(method("uploads", "listen"))
        await dispatch(browser, events("dragEnter", "dragOver"))
        is_taken = bool(await element.call(method("uploads", "isTaken")))
        await dispatch(browser, events("dragOver", "drop") if is_taken else events("dragCancel"))
    if not is_taken:
        raise ActionFailed(
            "Clicking the element opened no file chooser, and files cannot be dropped on it; give the index of the "
            "file field."
        )


def _check_number(paths: Sequence[Path], *, takes_several: bool) -> None:
    if len(paths) > 1 and not takes_several:
        raise ActionFailed("The page takes one file only here.")


async def _set_files(element: "Element", backend_node_id: int, session_id: str, paths: Sequence[Path]) -> None:
    params = {"files": [str(path.absolute()) for path in paths], "backendNodeId": backend_node_id}
    try:
        await element.tab.send("DOM.setFileInputFiles", params, session_id=session_id)
    except CdpError as error:
        raise ActionFailed(f"The page did not take the file ({error.message})") from error
