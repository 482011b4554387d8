"""What the stand-in answers: the scenario's steps, read from plain JSON values.

A scenario is a list of steps, or {"steps": [...], "extracts": [...]}. Steps answer requests
whose reply shape has a list of actions, one after the other, and the last one for ever; extracts answer all others
in the same way (without any, the text "Nothing to extract."). A step is one of

  {"click": {"index": 3}}                       one action, wrapped into a whole reply
  [{"input": …}, {"click": …}]                  a chain of actions, wrapped likewise
  {"what_i_see": "…", "action": […]}            a whole reply, sent as it stands
  "no JSON at all"                              raw text, on every wire format (nonsense, tool-less answer)
  {"__http__": 429, "retry_after": 2}           an HTTP failure; `message` and `body` may be given; asks clients to
                                                come back after 10 ms unless `retry_after` (seconds) says otherwise
  {"__hang__": 5}                               no answer for 5 s (true: until the server closes), then hangs up
  {"__drop__": true}                            the connection is closed without an answer
  {"__stream_error__": "overloaded_error"}      a failure of that type inside an HTTP 200 (Anthropic: streamed only)

or {"reply": <step>, …} with any of these beside it:

  "__delay__": 0.3      seconds before the answer          "__pace__": 0.01   seconds between streamed pieces
  "__truncated__": 40   cut after 40 characters, with the wire format's word for "too long"
  "__refusal__": true   marked as refused                  "__text__": true   as text even where a tool is offered
  "__usage__": {"input": 1200, "cache_read": 500, "cache_write": 300, "output": 20}
  "__model__": "…"      the model name that is said to have answered
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SENTENCES = {
    "what_i_see": "The page as it was shown.",
    "plan_to_goal": "Follow the scenario to its end.",
    "next_move": "Do the next scripted thing.",
}
FAILURES = ("__http__", "__hang__", "__drop__", "__stream_error__")


@dataclass(frozen=True)
class Answer:
    """One step, read: `reply` is a JSON object or raw text; `failure` is set instead when the step fails."""

    reply: Any = None
    failure: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """The answers of one task."""

    steps: tuple[Any, ...] = ({"done": {"text": "Done.", "success": True}},)
    extracts: tuple[Any, ...] = ("Nothing to extract.",)

    @classmethod
    def read(cls, document: Any) -> "Scenario":
        """Return the scenario that a JSON value, or a Scenario, stands for."""
        if isinstance(document, Scenario):
            return document
        if isinstance(document, list | tuple):
            document = {"steps": document} if document else {}
        if unknown := set(document) - {"steps", "extracts"}:
            raise ValueError(f"A scenario has steps and extracts, not {sorted(unknown)}.")
        if not all(document.values()):
            raise ValueError("A scenario's steps and extracts are not empty.")
        return cls(**{name: tuple(answers) for name, answers in document.items()})

    @classmethod
    def load(cls, path: Path) -> "Scenario":
        """Return the scenario that a JSON file holds."""
        return cls.read(json.loads(path.read_text()))

    def answer(self, kind: str, number: int) -> Answer:
        """Return the answer to the request of that kind ("step" or "extract"), counted from 0."""
        answers = self.steps if kind == "step" else self.extracts
        return read_step(answers[min(number, len(answers) - 1)], wrap=kind == "step")


def read_step(step: Any, *, wrap: bool) -> Answer:
    """Return what one step stands for; `wrap` makes a whole reply of bare actions."""
    if isinstance(step, dict) and any(key in step for key in FAILURES):
        return Answer(failure=step)
    if isinstance(step, dict) and "reply" in step:
        inner = read_step(step["reply"], wrap=wrap)
        return Answer(inner.reply, inner.failure, {key: value for key, value in step.items() if key != "reply"})
    if not wrap or isinstance(step, str) or (isinstance(step, dict) and "action" in step):
        return Answer(reply=step)
    return Answer(reply={**SENTENCES, "action": step if isinstance(step, list) else [step]})
