"""Opens the page that a task begins at."""

import re

from appliance.models.addresses import is_same_page
from appliance.models.base import Scene
from appliance.models.moves import Moves, give_up, move, receipt_of, status_of

_STATUS = re.compile(r"\(HTTP ([45]\d\d)\)")


def answered_with(scene: Scene) -> str:
    """Return the status by which the site said that it has no such page, "" when it did not."""
    match = _STATUS.search(receipt_of(scene, "navigate"))
    return match[1] if match is not None else ""


def open_page(scene: Scene, address: str) -> Moves:
    """Yield the moves that open an address unless it is open; raises RunFailed when it cannot be opened."""
    if is_same_page(scene.url, address):
        return scene
    shown = scene.url or "an empty tab"
    opening = move(f"The tab shows {shown}.", f"Open {address}.", {"navigate": {"url": address}})
    scene = yield opening
    if status_of(scene, "answer_dialog"):
        scene = yield opening  # a dialog of the page before held it up
    if refusal := answered_with(scene):
        raise give_up(f"{address} could not be read: the site answered {refusal}", "Look whether the address is right")
    if not scene.url.startswith(("http://", "https://")) or status_of(scene, "navigate") in ("failed", "blocked"):
        why = receipt_of(scene, "navigate").rstrip(".") or "the browser shows no page"
        raise give_up(f"{address} could not be read: {why}", "Look whether the address is right")
    return scene
