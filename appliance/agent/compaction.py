"""Compaction: when the prompt nears the model's window, the steps before the last two become one written summary.

Thresholds: 75 % of the characters or 65 % of the tokens that the window takes. A provider that compacts by itself is
left to it. A summary that cannot be had never ends the run: those steps are then left out with a marker.
"""

from dataclasses import dataclass
from typing import Protocol

from appliance.agent import prompt
from appliance.errors import ContextOverflow, RunFailed
from appliance.events import TokenCount
from appliance.models.base import Message, Model, ModelRequest, Purpose, Text
from appliance.words import Effort

CHARACTERS_PER_TOKEN = 4
UNKNOWN_WINDOW = 240_000
"""Characters taken for the window of a model of which nothing is known."""

CHARACTER_SHARE = 0.75
TOKEN_SHARE = 0.65
MAX_SUMMARY = 6_000
SECONDS = 120.0
_MIN_SUMMARY = 400


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
        if self._limit.compacts_itself or not window.older_steps:
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
        count = window.older_steps
        said = "The request is too long for the model's window. " if forced else ""
        if forced:
            window.tighten()
        if not count:
            return f"{said}Long texts in it are cut short."
        summary = await self._sum_up(window.older_text())
        window.put_checkpoint(summary)
        if summary is None:
            return f"{said}{count} earlier steps are left out of it, since the model gave no summary of them."
        return f"{said}{count} earlier steps are summed up in {len(summary)} characters."

    async def _sum_up(self, text: str) -> str | None:
        longest = max(_MIN_SUMMARY, min(MAX_SUMMARY, self._limit.characters // 8))
        room = max(1_000, self._limit.threshold - 2 * longest)
        request = ModelRequest(
            purpose=Purpose.COMPACTION,
            system=prompt.compaction_rules(longest),
            messages=(Message("user", (Text(f"<steps>\n{_cut_middle(text, room)}\n</steps>"),)),),
            effort=Effort.NONE,
            max_output_tokens=max(1_000, longest // 2),
            timeout=SECONDS,
        )
        try:
            reply = await self._model.ask(request)
        except (RunFailed, ContextOverflow):
            return None
        text = reply.text.strip()
        return text[: longest * 2] if text and reply.stop != "refusal" else None


def size_of(request: ModelRequest) -> int:
    """Return the characters of a request's text: rules, reply shape and messages."""
    texts = [part.text for message in request.messages for part in message.parts if isinstance(part, Text)]
    return len(request.system) + (request.shape.size if request.shape else 0) + sum(map(len, texts))


def _cut_middle(text: str, limit: int) -> str:
    """Leave out of the middle what is too long; the beginning has the task and the end what was done last."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head]}\n(… {len(text) - limit} characters are left out here …)\n{text[head - limit :]}"
