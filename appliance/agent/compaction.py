"""Compaction: when the prompt nears the model's window, the steps before the last two become one written summary.

Thresholds: 75 % of the characters or 65 % of the tokens that the window takes. A provider that compacts by itself is
left to it. A summary that cannot be had never ends the run: those steps are then left out with a marker.
"""

from dataclasses import dataclass
from typing import Protocol

from appliance.agent import prompt
from appliance.agent.page_text import cut
from appliance.errors import ContextOverflow, RunFailed
from appliance.events import TokenCount
from appliance.models.base import Message, Model, ModelRequest, Purpose, Text
from appliance.words import Effort

CHARACTERS_PER_TOKEN = 4
UNKNOWN_WINDOW = 240_000
"""Characters taken for the window of a model of which nothing is known."""

CHARACTER_SHARE = 0.75
TOKEN_SHARE = 0.65
MAX_SUMMARY = 3_000
SECONDS = 120.0
_MIN_SUMMARY = 400
_WORTH_A_CALL = 3
"""Steps that a summary must replace, or a prompt that stays too long would be summed up in every step."""
_PICTURE = 5_600
"""Characters that a picture stands for where they are counted in place of tokens."""


@dataclass(frozen=True)
class ContextLimit:
    """How much a model reads: `tokens` of its window, None when unknown; `characters` is worked out unless given."""

    tokens: int | None = None
    compacts_itself: bool = False
    max_context_chars: int | None = None

    @property
    def characters(self) -> int:
        """The characters that the whole window takes."""
        if self.max_context_chars:
            return self.max_context_chars
        return CHARACTERS_PER_TOKEN * self.tokens if self.tokens else UNKNOWN_WINDOW

    @property
    def threshold(self) -> int:
        """The characters a request may have before it is compacted."""
        return int(CHARACTER_SHARE * self.characters)


class Compactable(Protocol):
    """What the compactor asks of a prompt window."""

    @property
    def older_steps(self) -> int:
        """How many steps stand before the last two, those of an earlier summary not counted."""
        ...

    @property
    def size(self) -> int:
        """The characters of the last request."""
        ...

    def older_text(self) -> str:
        """Return the goal, the task and everything before the last two steps, in full as far as it is still known."""
        ...

    def put_checkpoint(self, summary: str | None) -> None:
        """Replace everything before the last two steps by the summary, None for a marker that it is left out."""
        ...

    def tighten(self) -> None:
        """Let the next request be clearly shorter than the last, whatever has to be cut."""
        ...


class Compactor:
    """Decides when a run's prompt window is compacted, and has the summary written by the run's own model."""

    def __init__(self, model: Model, limit: ContextLimit) -> None:
        self._model = model
        self._limit = limit

    def is_due(self, window: Compactable, request: ModelRequest, last: TokenCount | None) -> bool:
        """Whether the window is to be compacted before this request is sent; `last` is what the last step's reply used.

        False where the provider compacts by itself, and while there is nothing to be won by it.
        """
        if self._limit.compacts_itself or window.older_steps < _WORTH_A_CALL:
            return False
        if size_of(request) > self._limit.threshold:
            return True
        if last is None or self._limit.tokens is None:
            return False
        return last.input + last.cache_read + last.cache_write + last.output > TOKEN_SHARE * self._limit.tokens

    async def compact(self, window: Compactable, *, forced: bool) -> str:
        """Compact the window and return a sentence for the feed; ask for its next request afterwards.

        `forced` is for a request that was refused as too long: then what cannot be summed up is cut as well.
        Raises MoneySpent, where the summary is not covered any more, and BrowserLost.
        """
        count, room = window.older_steps, self._limit.threshold
        said = "The request is too long for the model's window. " if forced else ""
        if forced:
            window.tighten()
            room = min(room, window.size // 2)
        if not count:
            return f"{said}Long texts in it are cut short."
        summary = await self._sum_up(window.older_text(), room)
        window.put_checkpoint(summary)
        if summary is None:
            return f"{said}{count} earlier steps are left out of it, since the model gave no summary of them."
        return f"{said}{count} earlier steps are summed up in {len(summary)} characters."

    async def _sum_up(self, steps: str, room: int) -> str | None:
        longest = max(_MIN_SUMMARY, min(MAX_SUMMARY, self._limit.characters // 16))
        rules = prompt.compaction_rules(longest)
        told = _cut_middle(steps, max(1_000, room - len(rules) - longest))
        request = ModelRequest(
            purpose=Purpose.COMPACTION,
            system=rules,
            messages=(Message("user", (Text(f"<steps>\n{told}\n</steps>"),)),),
            effort=Effort.NONE,
            max_output_tokens=max(1_000, longest // 2),
            timeout=SECONDS,
        )
        try:
            reply = await self._model.ask(request)
        except (RunFailed, ContextOverflow):
            return None
        summary = reply.text.strip()
        return cut(summary, 2 * longest) if summary and reply.stop != "refusal" else None


def size_of(request: ModelRequest) -> int:
    """Return the characters of a request: rules, reply shape and messages, each picture as many as it is worth."""
    parts = [part for message in request.messages for part in message.parts]
    sizes = (len(part.text) if isinstance(part, Text) else _PICTURE for part in parts)
    return len(request.system) + (request.shape.size if request.shape else 0) + sum(sizes)


def _cut_middle(text: str, limit: int) -> str:
    """Leave out of the middle what is too long; the beginning has the task and the end what was done last."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head]}\n(… {len(text) - limit} characters are left out here …)\n{text[head - limit :]}"
