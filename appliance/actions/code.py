"""The action that runs JavaScript in the page."""

import json
import re
import time
from typing import Any

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.evidence import keep_read, texts_beyond
from appliance.actions.measured import finish, sentence
from appliance.browser.effects import Watch
from appliance.browser.tab import DialogOpen
from appliance.errors import ActionFailed
from appliance.filenames import free_name
from appliance.words import ReceiptStatus

DEADLINE_SECONDS = 10.0
MAX_CHARACTERS = 4_000
"""Longer results are kept as a file, of which only the beginning is shown."""
BEGINNING = 1_500
SHOWN_CHARACTERS = 200

_FUNCTION = re.compile(r"\s*(?:async\s*)?(?:function\b[^(]*\([^)]*\)\s*\{|\([^()]*\)\s*=>|[A-Za-z_$][\w$]*\s*=>)")


class Evaluate(Parameters):
    """Parameters of evaluate."""

    code: str = Field(min_length=1)


async def _evaluate(context: ActionContext, parameters: Evaluate) -> Receipt:
    watch = await Watch.start(context.browser)
    try:
        value = await run_in_page(context, parameters.code)
    except BaseException:
        watch.stop()
        raise
    effect = await finish(context, watch)
    facts = list(effect.facts)
    if effect.needs_decision:
        return Receipt(ReceiptStatus.NEEDS_DECISION, sentence("Ran the code", facts), ends_chain=True)
    keep_read(context, texts_beyond(value, parameters.code))
    result = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if value is None:
        return Receipt(ReceiptStatus.OK, sentence("Ran the code, which returned nothing", facts), ends_chain=True)
    if len(result) <= SHOWN_CHARACTERS:
        return Receipt(ReceiptStatus.OK, sentence(f"Ran the code, which returned {result}", facts), ends_chain=True)
    kept, carried = "", result
    if len(result) > MAX_CHARACTERS:
        saved = context.scratchpad.write(free_name(context.scratchpad.root, "result.txt"), result)
        kept, carried = f", kept in {saved.name}", f"{result[:BEGINNING]}…"
    text = sentence(f"Ran the code, which returned {len(result)} characters{kept}", facts)
    return Receipt(ReceiptStatus.OK, text, carried=carried, ends_chain=True)


async def run_in_page(context: ActionContext, code: str) -> Any:
    """Run the code as it stands; a function is called, and code that only works as a function's body is run as one.

    Returns its JSON value, None when a dialog stopped it. Raises ActionFailed with the page's own message.
    """
    tab, started = context.browser.tab, time.monotonic()
    try:
        return await tab.evaluate(as_expression(code), world="main", timeout=DEADLINE_SECONDS)
    except DialogOpen:
        return None
    except ActionFailed as error:
        if time.monotonic() - started >= DEADLINE_SECONDS - 0.1:
            # Without this a loop without end would keep the page from ever answering again.
            context.browser.cdp.post("Runtime.terminateExecution", None, tab.session_id)
            raise ActionFailed(f"The code did not end within {DEADLINE_SECONDS:g} s and was stopped.") from error
        if "SyntaxError" not in error.message or not ("return" in code or "await" in code):
            raise
    return await tab.evaluate(f"(async () => {{\n{code}\n}})()", world="main", timeout=DEADLINE_SECONDS)


def as_expression(code: str) -> str:
    """Return code whose value is what is meant: a function that stands by itself is called."""
    stripped = code.strip().rstrip(";")
    is_function = _FUNCTION.match(stripped) and not stripped.endswith(")")
    return f"({stripped})()" if is_function else code


EVALUATE = Action(
    "evaluate",
    "Run JavaScript in the page and return its value (10 s at most). For reading what cannot be read otherwise; use "
    "the other actions to act.",
    Evaluate,
    _evaluate,
)
