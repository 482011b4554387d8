"""The reviewer: a call to the model that judges a finished answer against task and goal, by what the run saw."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.agent import prompt
from appliance.agent.assignment import Assignment
from appliance.agent.page_text import cut
from appliance.browser.observation import Screenshot
from appliance.errors import ReplyMalformed
from appliance.fences import fence
from appliance.models.autopilot import Autopilot
from appliance.models.base import Image, Message, Model, ModelRequest, Purpose, ReplyShape, Text
from appliance.store.answers import AnswerStore
from appliance.store.sources import trace

SECONDS = 120.0
MAX_ANSWER = 8_000
MAX_REASON = 4_000
_MAX_VALUE = 300
_MAX_STEPS = 8_000
_MAX_TASK = 12_000
_MAX_SCHEMA = 4_000
_MAX_COVERAGE = 2_000
_MAX_UNSEEN = 30

_SHAPE = ReplyShape(
    "review",
    "Your verdict on the answer.",
    {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "verdict": {"type": "boolean"},
            "failure_reason": {"type": "string"},
            "impossible_task": {"type": "boolean"},
            "reached_captcha": {"type": "boolean"},
        },
        "required": ["reasoning", "verdict", "failure_reason", "impossible_task", "reached_captcha"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True)
class Verdict:
    """What the reviewer thinks; `reason` says what is to be changed, or what decided it where nothing is."""

    is_right: bool
    reason: str
    is_impossible: bool = False


@dataclass(frozen=True)
class Material:
    """What an answer is judged by.

    `steps` are the last steps as the prompt tells them, `pictures` the last screenshots. `coverage` tells how far an
    answer store is filled. `objection` is what was asked for before, `reply` what the agent says to it.
    `note` is what it says beside the answer.
    """

    answer: Any
    goal: str = ""
    steps: Sequence[str] = ()
    pictures: Sequence[Screenshot] = ()
    coverage: str = ""
    objection: str = ""
    reply: str = ""
    note: str = ""


class Reviewer:
    """Judges the answers of one run."""

    def __init__(self, model: Model, assignment: Assignment) -> None:
        self._model = model
        self._assignment = assignment

    @property
    def is_on(self) -> bool:
        """Whether answers of this run are judged; the keyless model cannot."""
        return self._assignment.is_reviewed and self._model.name != Autopilot.name

    async def review(self, material: Material, seconds: float) -> Verdict:
        """Return the verdict on an answer, asked for in one call of at most so many seconds.

        Raises ReplyMalformed when what comes back is none, and what the model raises.
        """
        pictures = material.pictures if self._model.sees_images else ()
        parts = [Text(self._tell(material)), *(Image(picture.data, picture.media_type) for picture in pictures)]
        effort = self._assignment.effort
        request = ModelRequest(
            purpose=Purpose.REVIEW,
            system=prompt.reviewer_rules(),
            messages=(Message("user", tuple(parts)),),
            shape=_SHAPE,
            effort=effort,
            timeout=min(seconds, SECONDS * self._model.slowness(effort)),
        )
        reply = await self._model.ask(request)
        return _read(reply.text)

    def _tell(self, material: Material) -> str:
        """Return the text of the request: each part in a block that nothing inside it can close."""
        schema = self._assignment.output_schema
        told = {
            "task": cut(self._assignment.task, _MAX_TASK),
            "goal": material.goal,
            "answer_schema": "" if schema is None else cut(_dumped(schema), _MAX_SCHEMA),
            "steps": _newest(material.steps, _MAX_STEPS),
            "coverage": fence(cut(material.coverage, _MAX_COVERAGE)),
            "answer": fence(shortened(material.answer)) or "(empty)",
            "note": fence(cut(material.note, MAX_REASON)),
            "earlier_review": fence(cut(material.objection, MAX_REASON)),
            "reply": fence(cut(material.reply, MAX_REASON)),
        }
        return "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in told.items() if text)


def coverage_of(store: AnswerStore, answer: Any) -> str:
    """Return how far the answer is filled, and which of its values were not seen on any page, by JSON pointer."""
    sources = trace(answer, store.provenance())
    unseen = [pointer or "/" for pointer, source in sources.items() if source["status"] == "unseen"]
    if not unseen:
        return store.coverage_line
    more = f" and {len(unseen) - _MAX_UNSEEN} more" if len(unseen) > _MAX_UNSEEN else ""
    return f"{store.coverage_line}\nSeen on no page: {', '.join(unseen[:_MAX_UNSEEN])}{more}."


def shortened(answer: Any) -> str:
    """Return an answer in at most 8,000 characters: long values are cut first, then the end, and both is said."""
    text = answer if isinstance(answer, str) else _dumped(answer)
    if len(text) <= MAX_ANSWER:
        return text
    if not isinstance(answer, str):
        with suppress(RecursionError):
            text = _dumped(_elided(answer))
    if len(text) <= MAX_ANSWER:
        return text
    mark = f"\n(shortened for you: {len(text) - MAX_ANSWER:,} characters more)"
    return text[: MAX_ANSWER - len(mark)] + mark


def _elided(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _MAX_VALUE else f"{value[:_MAX_VALUE]}… ({len(value):,} characters)"
    if isinstance(value, list):
        return [_elided(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _elided(one) for name, one in cast("dict[str, Any]", value).items()}
    return value


def _newest(steps: Sequence[str], limit: int) -> str:
    """Return as many of the newest steps as fit, oldest first; the very newest is cut where even it is too long."""
    told: list[str] = []
    for step in reversed(steps):
        limit -= len(step)
        if limit < 0 and told:
            break
        told.append(step if limit >= 0 else cut(step, limit + len(step)))
    return "".join(reversed(told)).strip()


class _Judgement(BaseModel):
    """The reply as it is read: leniently in its kinds, strictly in that there is a verdict."""

    model_config = ConfigDict(extra="ignore")

    verdict: bool
    reasoning: str | None = None
    failure_reason: str | None = None
    impossible_task: bool | None = None


def _read(text: str) -> Verdict:
    try:
        judged = _Judgement.model_validate_json(text)
    except ValidationError as error:
        raise ReplyMalformed("the reviewer's reply holds no verdict.") from error
    reason = (judged.failure_reason or "").strip() if not judged.verdict else ""
    reason = cut(reason or (judged.reasoning or "").strip(), MAX_REASON)
    if not judged.verdict and not reason:
        raise ReplyMalformed("the reviewer turned the answer down without a reason.")
    return Verdict(judged.verdict, reason, bool(judged.impossible_task))


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
