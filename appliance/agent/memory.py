"""What an agent takes along from one run of a session to the next, as long as the session's browser stays."""

import json
from dataclasses import dataclass, replace
from typing import Any

from appliance.actions.base import ActionContext
from appliance.actions.guard import OutputGuard
from appliance.agent.outcome import Outcome
from appliance.agent.past import Past
from appliance.agent.turns import MAX_ANSWER_BEFORE
from appliance.browser.effects import Watch
from appliance.errors import ActionFailed
from appliance.filenames import free_name
from appliance.store.evidence import Evidence
from appliance.store.links import Links
from appliance.workspaces.scratchpad import Scratchpad


@dataclass(frozen=True)
class Memory:
    """What was said to the model, what was read, and which outputs it has seen; files are kept by the scratchpad.

    It belongs to one agent at a time: the next one goes on with the same objects.
    """

    past: Past
    evidence: Evidence
    links: Links
    guard: OutputGuard
    watch: Watch | None = None

    def in_another_browser(self) -> "Memory":
        """Return what is left of it where the browser could not stay; the model is told that its pages are gone."""
        return replace(self, past=replace(self.past, is_moved=True), watch=None)

    def taken_up(self, context: ActionContext) -> ActionContext:
        """Return the context of a new run that knows what is remembered; its answer begins empty."""
        self.evidence.go_on()
        self.guard.go_on(self.past.steps)
        # The file of the answer shows that of before until the new one is first written.
        return replace(
            context,
            evidence=self.evidence,
            links=self.links,
            guard=self.guard,
            watch=self.watch,
            store=None,
            mirrored=-1,
        )


def tell_answer(outcome: Outcome, scratchpad: Scratchpad) -> str:
    """Return what came of a run as the next one is told; an answer too long for that is also kept in a file."""
    output: Any = outcome.output
    if output is None:
        return f"(no answer: {outcome.summary})"
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    if len(text) <= MAX_ANSWER_BEFORE:
        return text
    try:
        ending = "txt" if isinstance(output, str) else "json"
        name = scratchpad.write(free_name(scratchpad.root, f"earlier_answer.{ending}"), text).name
    except (ActionFailed, OSError):
        return text
    return f"(All of it is in {name}.) {text}"
