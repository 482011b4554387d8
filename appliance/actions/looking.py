"""The action that turns to another part of a long page."""

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.words import ReceiptStatus


class Look(Parameters):
    """Parameters of look."""

    from_line: int = Field(ge=1)


async def _look(context: ActionContext, parameters: Look) -> Receipt:
    context.browser.look_from(parameters.from_line)
    text = f"The page is shown from line {parameters.from_line} on, in the step that follows."
    return Receipt(ReceiptStatus.OK, text, lasting=f"Looked from line {parameters.from_line} on.")


LOOK = Action(
    "look",
    "Show another part of a long page, from a line number on, without scrolling; its elements can then be used.",
    Look,
    _look,
)
