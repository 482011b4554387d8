"""The goal of a run: one sentence, stated by the model before the first step, that says what a right result is."""

import re

from appliance.agent import prompt
from appliance.errors import ContextOverflow, RunFailed
from appliance.models.base import Message, Model, ModelRequest, Purpose, Text
from appliance.words import Effort

MAX_GOAL = 300
SECONDS = 30.0
_MAX_TASK = 12_000
_MAX_TOKENS = 1_000
_LABEL = re.compile(r"^\W*(?:goal|the goal is)\s*:\s*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?。!?])\s|\n")


async def state_goal(model: Model, task: str) -> str:
    """Return the task's goal as one sentence of at most 300 characters: one cheap call, without reasoning if it can be.

    When the model cannot say it, the first sentence of the task is returned. Raises MoneySpent and BrowserLost only.
    """
    request = ModelRequest(
        purpose=Purpose.GOAL,
        system=prompt.goal_rules(),
        messages=(Message("user", (Text(f"<task>\n{task[:_MAX_TASK]}\n</task>"),)),),
        effort=Effort.NONE,
        max_output_tokens=_MAX_TOKENS,
        timeout=SECONDS,
    )
    try:
        reply = await model.ask(request)
    except (RunFailed, ContextOverflow):
        return first_sentence(task)
    said = _one_sentence(reply.text) if reply.stop == "end" else ""
    return said or first_sentence(task)


def first_sentence(text: str) -> str:
    """Return the first sentence or line of a text in one line, at most 300 characters."""
    lines = [" ".join(line.split()) for line in _SENTENCE_END.split(text.strip())]
    return _cut(next((line for line in lines if line), ""))


def _one_sentence(reply: str) -> str:
    """Return the reply as one line, without the label or the quotes that models put around it."""
    return _cut(_LABEL.sub("", " ".join(reply.split())).strip("\"'“”*` "))


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_GOAL else f"{sentence[: MAX_GOAL - 1]}…"
