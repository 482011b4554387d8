"""Actions that keep small values across steps and runs of a session."""

from typing import Any

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.checkpoints import as_text
from appliance.words import ReceiptStatus

MAX_SHOWN = 300


class Remember(Parameters):
    """Parameters of remember."""

    key: str
    value: Any


class Recall(Parameters):
    """Parameters of recall."""

    key: str | None = None


async def _remember(context: ActionContext, parameters: Remember) -> Receipt:
    value = as_text(parameters.value)
    context.clipboard.remember(parameters.key, value)
    return Receipt(ReceiptStatus.OK, f"Remembered {parameters.key} ({len(value)} characters).")


async def _recall(context: ActionContext, parameters: Recall) -> Receipt:
    if parameters.key is None:
        values = context.clipboard.values()
        keys = ", ".join(values) or "no keys"
        return Receipt(ReceiptStatus.OK, f"Remembered are: {keys}.", carried=_listed(values) or None)
    value = context.clipboard.recall(parameters.key)
    if len(value) <= MAX_SHOWN:
        return Receipt(ReceiptStatus.OK, f"{parameters.key} is {value!r}.")
    return Receipt(ReceiptStatus.OK, f"Recalled {parameters.key} ({len(value)} characters).", carried=value)


def _listed(values: dict[str, str]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in values.items())


REMEMBER = Action(
    "remember",
    "Keep a small value under a key, for later steps and tasks of this session.",
    Remember,
    _remember,
    touches_page=False,
    is_desk_work=True,
)
RECALL = Action(
    "recall",
    "Get a remembered value, or all without a key; startUrl and goal are there from the start.",
    Recall,
    _recall,
    touches_page=False,
    is_desk_work=True,
)
