"""The action that saves what a run has so far, to be handed over should the run end without an answer."""

import json
from typing import Any

from appliance.actions.base import Action, ActionContext, Checkpoint, Parameters, Receipt
from appliance.words import ReceiptStatus


class SaveCheckpoint(Parameters):
    """Parameters of checkpoint."""

    file_name: str
    value: Any
    partial: bool = False


async def _checkpoint(context: ActionContext, parameters: SaveCheckpoint) -> Receipt:
    saved = context.files.write(parameters.file_name, as_text(parameters.value))
    text = f"Saved {saved.name} ({saved.size} bytes)"
    if not parameters.partial:
        return Receipt(ReceiptStatus.OK, f"{text}.")
    context.partial = Checkpoint(saved.name, parameters.value)
    return Receipt(ReceiptStatus.OK, f"{text}; it is handed over if the run ends without an answer.")


def as_text(value: object) -> str:
    """Return a text as it is and any other JSON value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


CHECKPOINT = Action(
    "checkpoint",
    "Save what you have so far to a file. partial true: hand it over should the run end before done, in the form of "
    "the answer.",
    SaveCheckpoint,
    _checkpoint,
    touches_page=False,
    is_desk_work=True,
)
