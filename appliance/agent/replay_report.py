"""What came of a replay: each action then and now, and the whole in one word and a few sentences."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from appliance.actions.base import Receipt
from appliance.agent.record import RecordedReceipt, ReplayedAction
from appliance.agent.replay_plan import Intent
from appliance.words import Completion, ReceiptStatus

READING = frozenset(
    {"search_page", "find_elements", "evaluate", "find_links", "read_pages", "http_fetch", "run_code_file"}
)
"""Actions that matter for what they read."""
NEEDLESS = frozenset({"solve_captcha"})
"""Actions that go as recorded, too, where what they are for is not there today."""
BLIND = "point"
"""The level of a click on a point whose element was not found again."""
_LONGEST = 300


@dataclass(frozen=True)
class ReplayReport:
    """A whole replay."""

    actions: tuple[ReplayedAction, ...]

    @property
    def completion(self) -> Completion:
        """Complete when every action that was to be done held; failed when none did."""
        due = [action for action in self.actions if action.state != "skipped"]
        held = sum(action.state == "held" for action in due)
        if held == len(due):
            return Completion.COMPLETE
        return Completion.PARTIAL if held else Completion.FAILED

    @property
    def summary(self) -> str:
        """What came of it in one or two sentences."""
        counts = {state: sum(action.state == state for action in self.actions) for state in _STATES}
        due = len(self.actions) - counts["skipped"]
        parts = [f"{counts['held']} of {due} recorded actions went as they did then"]
        parts += [f"{counts[state]} {words}" for state, words in _STATES.items() if words and counts[state]]
        worst = next((action for action in self.actions if action.state in ("failed", "differs")), None)
        cause = f" {worst.name}: {worst.why}" if worst is not None and worst.why else ""
        return "; ".join(parts) + "." + cause

    @property
    def text(self) -> str:
        """The report in lines: the summary, then each action that did not go as it did then."""
        wrong = [action for action in self.actions if action.state in ("failed", "differs", "not_reached")]
        lines = [f"- {action.name} ({action.state.replace('_', ' ')}): {action.why or action.now}" for action in wrong]
        return "\n".join([self.summary, *lines])


_STATES = {
    "held": "",
    "differs": "went otherwise",
    "failed": "failed",
    "not_reached": "were not reached",
    "skipped": "were left out",
}


def compare(intent: Intent, now: Receipt, level: str, before: str) -> ReplayedAction:
    """Return how an action went, compared with what was recorded; `before` is the address it was done at."""
    then = intent.receipt
    state, why = _judge(intent, now, before)
    if state == "held" and level == BLIND:
        state, why = (
            "differs",
            f"{intent.targets[0].words}, which lay there then, was not found; the same point was clicked",
        )
    return ReplayedAction(
        call_id=intent.call.call_id,
        name=intent.call.name,
        state=state,
        level=level,
        then=then.text[:_LONGEST] if then is not None else "",
        now=now.text[:_LONGEST],
        why=why,
    )


def unstarted(intent: Intent, state: Literal["skipped", "not_reached"], why: str) -> ReplayedAction:
    """Return the report of an action that was not done."""
    then = intent.receipt.text[:_LONGEST] if intent.receipt is not None else ""
    return ReplayedAction(intent.call.call_id, intent.call.name, state, then=then, why=why)


def _judge(intent: Intent, now: Receipt, before: str) -> tuple[Literal["held", "differs", "failed"], str]:
    then = intent.receipt
    assert then is not None
    if now.status in (ReceiptStatus.FAILED, ReceiptStatus.BLOCKED, ReceiptStatus.SKIPPED):
        return "failed", now.text
    is_needless = intent.call.name in NEEDLESS and now.status is ReceiptStatus.NO_EFFECT
    if now.status is not then.status and not (is_needless or _is_better(then, now)):
        return "differs", f"it was {_say(then.status)} then and is {_say(now.status)} now: {now.text}"
    led_elsewhere = _place(then.url) != _place(now.url) and bool(then.url) and not is_needless
    if led_elsewhere and _place(now.url) != _place(before):
        return "differs", f"it led to {then.url} then and to {now.url} now"
    if led_elsewhere:
        return "differs", f"it led to {then.url} then and stayed at {now.url} now"
    if intent.call.name in READING and _plain(then.text, then.carried) != _plain(now.text, now.carried):
        return "differs", "what it read is different now"
    return "held", ""


def _is_better(then: RecordedReceipt, now: Receipt) -> bool:
    return then.status is ReceiptStatus.NO_EFFECT and now.status is ReceiptStatus.OK


def _say(status: ReceiptStatus) -> str:
    return status.value.replace("_", " ")


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.netloc, parts.path


def _plain(text: str, carried: str | None) -> str:
    """Return what was read without the numbers of elements and the times it took."""
    return re.sub(r"\[\d+\]|\d+(\.\d+)? ?m?s\b", "", f"{text}\n{carried or ''}")
