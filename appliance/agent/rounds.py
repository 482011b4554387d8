"""The talk between reviewer and agent about a finished answer: at most three rounds, and the agent may object twice.

The reviewer never decides how a run counts. The last answer that was accepted stands, whatever the talk comes to.
"""

import re
from collections import deque
from collections.abc import Iterable
from typing import Any, cast

import structlog

from appliance.agent import prompt
from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.history import full_text
from appliance.agent.outlets import Outlets
from appliance.agent.reviewer import Material, Reviewer, Verdict, coverage_of
from appliance.agent.step import Step
from appliance.browser.observation import Screenshot
from appliance.errors import ContextOverflow, MachineFault, MoneySpent, ReplyMalformed, RunDone, RunFailed
from appliance.events import Reviewed
from appliance.store.answers import AnswerStore

MAX_ROUNDS = 3
MAX_OBJECTIONS = 2
_TOLD_STEPS = 12
_TOLD_PICTURES = 2
_QUOTED = re.compile(r"[`'\"‘“„]([A-Za-z_][\w.\[\]/-]{0,80})[`'\"’”“]")
_LITERALS = frozenset({"null", "true", "false", "none"})

log = structlog.get_logger()


class Rounds:
    """Has each answer of one run reviewed and says whether the agent must go on.

    `answer` is the last one that was accepted, None before the first. `goal` is told to the reviewer.
    """

    def __init__(self, reviewer: Reviewer, assignment: Assignment, budget: Budget, outlets: Outlets) -> None:
        self._reviewer = reviewer
        self._assignment = assignment
        self._budget = budget
        self._outlets = outlets
        self._steps: deque[str] = deque(maxlen=_TOLD_STEPS)
        self._pictures: deque[Screenshot] = deque(maxlen=_TOLD_PICTURES)
        self._round = 0
        self._objections = 0
        self._objection = ""
        self.answer: RunDone | None = None
        self.goal = ""

    def know(self, told: Iterable[str]) -> None:
        """Take note of what was done before the run, in the words of a step."""
        self._steps.extend(told)

    async def go_on(self, step: Step, store: AnswerStore | None = None) -> str | None:
        """Take note of a finished step; an answer in it, which the store tells of if there is one, is reviewed.

        Returns what the agent is to be told when it must go on for the reviewer, None while there is nothing to say.
        """
        self._note(step)
        done = step.answer
        if done is None:
            return None
        self._objections += self.answer is not None and done.answer == self.answer.answer
        self.answer = done
        objection, self._objection = self._objection, ""
        if not (done.success and self._reviewer.is_on and self._budget.has_room):
            return None
        reply = step.plan.see if step.plan is not None and objection else ""
        coverage = "" if store is None else coverage_of(store, done.answer)
        material = Material(
            done.answer, self.goal, tuple(self._steps), tuple(self._pictures), coverage, objection, reply, done.note
        )
        verdict = await self._judge(material)
        if verdict is None or verdict.is_right:
            return None
        self._objection = verdict.reason
        if self._is_over(verdict):
            return None
        self._round += 1
        return prompt.review_notice(verdict.reason, self._round, MAX_ROUNDS)

    async def close(self) -> None:
        """Tell where the reviewer was of another opinion to the last; what went wrong in that is logged only."""
        if self.answer is None or not self._objection:
            return
        text = f"The answer is handed over as it is, though the reviewer would have it otherwise: {self._objection}"
        try:
            await self._outlets.reviewed(Reviewed(verdict=False, text=text, round=self._round, recorded=True))
        except MachineFault as fault:
            log.error("the reviewer's dissent could not be told", reason=fault.message)

    def _note(self, step: Step) -> None:
        self._steps.append(full_text(step))
        picture = step.observation.screenshot if step.observation is not None else None
        if picture is not None and not (self._pictures and self._pictures[-1].looks_like(picture)):
            self._pictures.append(picture)

    async def _judge(self, material: Material) -> Verdict | None:
        """Return the verdict and tell it, with what it took; None when there is none."""
        verdict = None
        try:
            verdict = await self._reviewer.review(material, self._budget.seconds_left())
            text = verdict.reason if not verdict.is_right else f"The answer was checked and accepted. {verdict.reason}"
        except (RunFailed, ContextOverflow, MoneySpent, ReplyMalformed) as fault:
            text = f"The answer was not checked: {fault.message}"
        is_right = None if verdict is None else verdict.is_right
        reviewed = Reviewed(verdict=is_right, text=text.strip(), round=self._round)
        await self._outlets.reviewed(reviewed, self._budget.take_charges())
        return verdict

    def _is_over(self, verdict: Verdict) -> bool:
        """Whether it is of no use to ask the agent for what the reviewer wants."""
        is_spent = self._round >= MAX_ROUNDS or self._objections >= MAX_OBJECTIONS or not self._budget.has_room
        return is_spent or verdict.is_impossible or self._demands_other_field(verdict.reason)

    def _demands_other_field(self, reason: str) -> bool:
        """Whether the reason quotes what looks like the name of a field and is none, nor a word of task or answer."""
        schema = self._assignment.output_schema
        if schema is None or self.answer is None:
            return False
        fields = set(_names_in(schema))
        known = f"{self._assignment.task} {self.answer.answer}".lower()
        quoted = {re.split(r"[.\[\]/]+", name.strip("./[]"))[-1] or name for name in _QUOTED.findall(reason)}
        return any(
            name[0].islower() and name not in fields and name.lower() not in known and name not in _LITERALS
            for name in quoted
            if name[0].isalpha()
        )


def _names_in(schema: Any) -> set[str]:
    """Return the names of all fields that a JSON Schema describes, and the words it allows as values."""
    names: set[str] = set()
    if isinstance(schema, list):
        for one in cast("list[Any]", schema):
            names |= _names_in(one) if isinstance(one, dict | list) else {str(one)}
    elif isinstance(schema, dict):
        for name, one in cast("dict[str, Any]", schema).items():
            if name in ("properties", "$defs", "definitions") and isinstance(one, dict):
                names |= set(cast("dict[str, Any]", one))
            names |= _names_in(one) if isinstance(one, dict | list) else {str(one)} if name == "const" else set()
    return names
