"""What the stand-in answers: the scenario's steps, read from plain JSON values.

A scenario is a list of steps, or {"steps": [...], "extracts": [...], "goals": [...], "summaries": [...], "reviews":
[...]}. Steps answer requests whose reply shape has a list of actions, one after the other, and the last one for ever;
goals and summaries answer the requests that state a goal or sum up earlier steps, reviews those that ask for a verdict
(as {"verdict": false, "failure_reason": "…"}; by default every answer is right), extracts all others, each in the same
way. A step is one of

  {"click": {"index": 3}}                       one action, wrapped into a whole reply
  [{"input": …}, {"click": …}]                  a chain of actions, wrapped likewise
  {"what_i_see": "…", "action": […]}            a whole reply, sent as it stands
  "no JSON at all"                              raw text, on every wire format (nonsense, tool-less answer)
  {"__seen__": "Code: \\w+", "all": true}        in place of any text: what of the request fits the pattern, the last
                                                such text, or all different ones
  {"__parallel__": [<step>, <step>]}            several replies at once: parallel tool calls, or texts one after another

or a failure:

  {"__http__": 429, "retry_after": 2}           an HTTP failure (429, 500, 529, …); `message` and `body` may be given;
                                                asks clients to come back after 10 ms unless `retry_after` (seconds)
                                                says otherwise
  {"__overflow__": true}                        refused as longer than the window, in the provider's own words
  {"__hang__": 5}                               no answer for 5 s (true: until the server closes), then hangs up
  {"__drop__": true}                            the connection is closed without an answer
  {"__stream_error__": "overloaded_error"}      a failure of that type inside an HTTP 200: status=failed for OpenAI, an
                                                error in place of the message elsewhere; streamed or whole

or {"reply": <step>, …} with any of these beside it:

  "__delay__": 0.3      seconds before the answer          "__pace__": 0.01   seconds between streamed pieces
  "__truncated__": 40   cut after 40 characters, with the wire format's word for "too long"
  "__cut__": 2          the connection is closed after two streamed events, or in the middle of a whole answer
  "__refusal__": true   marked as refused                  "__text__": true   as text even where a tool is offered
  "__leak__": "text"    the actions stand where they do not belong: "text" (JSON among prose), "fence" (in a code
                        fence), "thinking" (in the reasoning), "string" (the whole input is one JSON text), "quoted"
                        (its lists are), "xml" (a tool call written out in tags), "sentence" (inside next_move)
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
KINDS = {"step": "steps", "extract": "extracts", "goal": "goals", "summary": "summaries", "review": "reviews"}
"""What a request can be for, and the part of a scenario that answers it."""

FAILURES = ("__http__", "__overflow__", "__hang__", "__drop__", "__stream_error__")


@dataclass(frozen=True)
class Answer:
    """One step, read: `reply` is a JSON object or raw text; `failure` is set instead when the step fails.

    A list is several replies at once.
    """

    reply: Any = None
    failure: dict[str, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """The answers of one task."""

    steps: tuple[Any, ...] = ({"done": {"text": "Done.", "success": True}},)
    extracts: tuple[Any, ...] = ("Nothing to extract.",)
    goals: tuple[Any, ...] = ("What the scenario says is done.",)
    summaries: tuple[Any, ...] = ("The scenario went as it says.",)
    reviews: tuple[Any, ...] = ({"reasoning": "As asked for.", "verdict": True, "failure_reason": ""},)

    @classmethod
    def read(cls, document: Any) -> "Scenario":
        """Return the scenario that a JSON value, or a Scenario, stands for."""
        if isinstance(document, Scenario):
            return document
        if isinstance(document, list | tuple):
            document = {"steps": document} if document else {}
        if unknown := set(document) - set(KINDS.values()):
            raise ValueError(f"A scenario has {', '.join(KINDS.values())}, not {sorted(unknown)}.")
        if not all(document.values()):
            raise ValueError("The parts of a scenario are not empty.")
        return cls(**{name: tuple(answers) for name, answers in document.items()})

    @classmethod
    def load(cls, path: Path) -> "Scenario":
        """Return the scenario that a JSON file holds."""
        return cls.read(json.loads(path.read_text()))

    def answer(self, kind: str, number: int) -> Answer:
        """Return the answer to the request of that kind, one of KINDS, counted from 0."""
        answers: tuple[Any, ...] = getattr(self, KINDS[kind])
        return read_step(answers[min(number, len(answers) - 1)], wrap=kind == "step")


def read_step(step: Any, *, wrap: bool) -> Answer:
    """Return what one step stands for; `wrap` makes a whole reply of bare actions."""
    if isinstance(step, dict) and any(key in step for key in FAILURES):
        return Answer(failure=step)
    if isinstance(step, dict) and "reply" in step:
        inner = read_step(step["reply"], wrap=wrap)
        return Answer(inner.reply, inner.failure, {key: value for key, value in step.items() if key != "reply"})
    if isinstance(step, dict) and "__parallel__" in step:
        return Answer(reply=[read_step(part, wrap=wrap).reply for part in step["__parallel__"]])
    if not wrap or isinstance(step, str) or (isinstance(step, dict) and "action" in step):
        return Answer(reply=step)
    return Answer(reply={**SENTENCES, "action": step if isinstance(step, list) else [step]})
