"""What of a recorded run is done again, and what is not and why; nothing is done here."""

from dataclasses import dataclass

from appliance.agent.record import RecordedReceipt
from appliance.agent.recorded import RecordedRun, RecordedStep
from appliance.browser.matching import ElementKeys
from appliance.events import ActionCall
from appliance.words import ReceiptStatus

ONLY_LOOKING = frozenset(
    {"look", "screenshot", "read_file", "recall", "dropdown_options", "read_output", "search_output"}
)
"""Actions whose whole effect is what the model then reads."""
ASKING = frozenset({"extract"})
"""Actions that ask a model."""
FOR_PEOPLE = frozenset({"ask_human"})
ENDING = frozenset({"done"})


@dataclass(frozen=True)
class Intent:
    """One recorded action; with a `skip` it is not done again, for this reason.

    `opener` is the action before it that opened the menu or the like in which its element may lie.
    """

    call: ActionCall
    receipt: RecordedReceipt | None
    skip: str = ""
    opener: "Intent | None" = None

    @property
    def targets(self) -> tuple[ElementKeys, ...]:
        """The keys of the elements it was done to."""
        return tuple(self.receipt.targets) if self.receipt is not None else ()


@dataclass(frozen=True)
class IntendedStep:
    """One recorded step with something to do again; `tabs` are the names its tabs had, oldest first."""

    url: str
    move: str
    tabs: tuple[str, ...]
    intents: tuple[Intent, ...]


def plan_replay(run: RecordedRun, *, with_model: bool = False) -> tuple[IntendedStep, ...]:
    """Return the steps of the run that have anything to be done again, in order."""
    flat = [(step, call, receipt) for step in run.steps for call, receipt in step.actions]
    skips = _skips([(call, receipt) for _, call, receipt in flat], with_model=with_model)
    steps: list[tuple[RecordedStep, list[Intent]]] = []
    opener: Intent | None = None
    for (step, call, receipt), skip in zip(flat, skips, strict=True):
        intent = Intent(call, receipt, skip, opener)
        if not skip and _opens(intent):
            opener = intent
        if not steps or steps[-1][0] is not step:
            steps.append((step, []))
        steps[-1][1].append(intent)
    return tuple(
        IntendedStep(
            step.asked.url, step.answered.move if step.answered else "", tuple(step.asked.tabs), tuple(intents)
        )
        for step, intents in steps
        if any(not intent.skip for intent in intents)
    )


def _opens(intent: Intent) -> bool:
    if intent.call.name == "hover":
        return True
    return intent.call.name == "click" and any(keys.opens for keys in intent.targets)


def _skips(actions: list[tuple[ActionCall, RecordedReceipt | None]], *, with_model: bool) -> list[str]:
    """Return for each action why it is not done again, "" for one that is."""
    reasons: list[str] = []
    is_dialog_open = False
    for number, (call, receipt) in enumerate(actions):
        reason = _reason(call, receipt, with_model=with_model)
        if not reason and receipt is not None and receipt.status is ReceiptStatus.NEEDS_DECISION:
            # Behind a dialog that waits, nothing but its answer was done.
            reason = "a dialog kept it from being done" if is_dialog_open else ""
            is_dialog_open = True
        elif call.name == "answer_dialog":
            is_dialog_open = False
        reasons.append(reason or _redundancy(actions, number))
    return reasons


_NOT_DONE = {
    ReceiptStatus.FAILED: "it failed in the recorded run",
    ReceiptStatus.BLOCKED: "it failed in the recorded run",
    ReceiptStatus.SKIPPED: "it was not done in the recorded run",
}


def _reason(call: ActionCall, receipt: RecordedReceipt | None, *, with_model: bool) -> str:
    if call.name in ENDING:
        return "it ends the run"
    if receipt is None:
        return "it was interrupted in the recorded run"
    if receipt.status in _NOT_DONE:
        return _NOT_DONE[receipt.status]
    if call.name in ASKING and not with_model:
        return "it asks a model, and none was named"
    return "it only looked or asked" if call.name in ONLY_LOOKING | FOR_PEOPLE else ""


def _redundancy(actions: list[tuple[ActionCall, RecordedReceipt | None]], number: int) -> str:
    """Return why an action without effect need not be done: the same was done right before, or right after."""
    call, receipt = actions[number]
    if receipt is None or receipt.status is not ReceiptStatus.NO_EFFECT:
        return ""
    for other in (number - 1, number + 1):
        if not 0 <= other < len(actions) or not _is_same(actions[number], actions[other]):
            continue
        again = actions[other][1]
        if other < number or (again is not None and again.status is ReceiptStatus.OK):
            return f"{call.name} was tried again"
    return ""


def _is_same(one: tuple[ActionCall, RecordedReceipt | None], other: tuple[ActionCall, RecordedReceipt | None]) -> bool:
    (call, receipt), (other_call, other_receipt) = one, other
    if receipt is None or other_receipt is None or call.name != other_call.name:
        return False
    return call.arguments == other_call.arguments and receipt.targets == other_receipt.targets
