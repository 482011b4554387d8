"""Shows the answer of a run as it stands in a file among the agent's own."""

from appliance.actions.base import ActionContext
from appliance.errors import ActionFailed

OUTPUT_NAME = "output.json"
"""The file that holds the answer as it stands."""


def mirror(context: ActionContext) -> str:
    """Write the answer to its file if it changed since that was last done.

    Returns a sentence when the file cannot be written, else nothing.
    """
    store = context.store
    if store is None or store.writes == context.mirrored:
        return ""
    context.mirrored = store.writes
    try:
        context.scratchpad.write_bytes(OUTPUT_NAME, store.to_json())
    except (ActionFailed, OSError) as error:
        reason = error.message if isinstance(error, ActionFailed) else f"{error.strerror}."
        return f" ({OUTPUT_NAME} does not show it: {reason})"
    return ""
