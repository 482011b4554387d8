"""Anthropic's Messages API: the reply is the input of the one tool offered; a repeated prefix is marked for caching."""

import base64
import json
from typing import TYPE_CHECKING, Any, Literal

from appliance.errors import ContextOverflow
from appliance.events import TokenCount
from appliance.models.base import Image, Message, ModelRequest, OnText, Reply, ReplyShape, Text
from appliance.models.catalog import ModelEntry
from appliance.models.failures import Service
from appliance.models.loading import Kit
from appliance.models.remote import (
    SDK_RETRIES,
    RemoteModel,
    choose_marks,
    give_up_on_long_waits,
    read_count,
    read_error_body,
)
from appliance.models.replies import compose
from appliance.words import Effort

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

CEILING = 64_000
"""The most tokens that a reply is given room for, reasoning included, unless a request asks for more."""

MARKS = 3
"""Cache marks left for messages: the API takes four in all and the system prompt has one."""

_THINKING_BUDGETS = {Effort.LOW: 2_048, Effort.MEDIUM: 8_192, Effort.HIGH: 16_384}
_STOPS: dict[str, Literal["end", "length", "refusal"]] = {
    "max_tokens": "length",
    "refusal": "refusal",
}
_CACHED = {"cache_control": {"type": "ephemeral"}}


class AnthropicModel(RemoteModel):
    """One of Anthropic's models."""

    def __init__(self, entry: ModelEntry, key: str, base_url: str = "") -> None:
        service = Service("Anthropic", base_url, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", key)
        super().__init__(entry, service)

    def connect(self, kit: Kit) -> "AsyncAnthropic":
        """Return the client."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient  # noqa: PLC0415

        return AsyncAnthropic(
            api_key=self.service.key,
            base_url=self.service.address or "https://api.anthropic.com",
            max_retries=SDK_RETRIES,
            http_client=DefaultAsyncHttpxClient(verify=kit.tls, event_hooks={"response": [give_up_on_long_waits]}),
        )

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Ask once and return the reply."""
        from anthropic import Timeout  # noqa: PLC0415
        from anthropic.types import Message as Whole  # noqa: PLC0415

        body = self.body(request)
        # As an extra body it goes out as it is; as arguments the client walks through all of it first, which takes ms.
        asked = {"model": body["model"], "max_tokens": body["max_tokens"], "messages": (), "extra_body": body}
        create: Any = self._client.messages.create
        timeout = Timeout(self.patience(request), connect=10.0)
        reading = _Reading()
        if on_text is not None:
            async with await create(**asked, timeout=timeout, stream=True) as events:
                with self.streaming():
                    async for event in events:
                        if piece := reading.add_event(event):
                            await on_text(piece)
        else:
            message = await create(**asked, timeout=timeout)
            if not isinstance(message, Whole):
                raise self.service.unintelligible()
            if fault := getattr(message, "error", None):
                raise self.service.failed_inside(*read_error_body({"error": fault}))
            reading.add_message(message)
        if not reading.model:
            raise self.service.unintelligible()
        if not reading.stop:
            raise self.service.broke_off("the stream ended without its last event")
        if reading.stop == "model_context_window_exceeded":
            raise ContextOverflow(f"The request leaves {self.name} no room for its reply; choose one that reads more.")
        return reading.reply(request.shape)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Return the request in Anthropic's form."""
        effort = self.entry.nearest_effort(request.effort)
        thinking, budget = self._thinking(effort)
        body: dict[str, Any] = {
            "model": self.entry.api_name,
            "max_tokens": min(
                max(request.max_output_tokens, min(request.max_output_tokens + budget, CEILING)),
                self.entry.max_output_tokens,
            ),
            "messages": _messages(request.messages),
        }
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, **_CACHED}]
        if thinking:
            body["thinking"] = thinking
        if effort not in (None, Effort.NONE) and self.entry.thinking != "budget":
            body["output_config"] = {"effort": str(effort)}
        if request.shape:
            shape = request.shape
            body["tools"] = [{"name": shape.name, "description": shape.description, "input_schema": shape.shown}]
            body["tool_choice"] = self._tool_choice(shape.name, effort)
        return body

    def _thinking(self, effort: Effort | None) -> tuple[dict[str, Any], int]:
        """Return the thinking setting (empty: the provider's default) and the tokens it may take beside the reply."""
        kind = self.entry.thinking
        if effort is None or kind == "none":
            return {}, 0 if kind in ("none", "budget", "opt_in") else _THINKING_BUDGETS[Effort.HIGH]
        if kind == "budget":
            budget = _THINKING_BUDGETS.get(effort, 0)
            return ({"type": "enabled", "budget_tokens": budget} if budget else {}), budget
        if effort is Effort.NONE:
            off = {"default": "disabled", "between_tools": "between_tools"}.get(kind)
            return ({"type": off} if off else {}), 0
        return {"type": "adaptive"}, 2 * _THINKING_BUDGETS[Effort.HIGH]

    def _tool_choice(self, tool: str, effort: Effort | None) -> dict[str, Any]:
        """Force the tool where the API allows it, which it does not while the model thinks."""
        thinks = self.entry.default_effort if effort is None else effort
        if self.entry.forced_tools and thinks in (None, Effort.NONE):
            return {"type": "tool", "name": tool, "disable_parallel_tool_use": True}
        return {"type": "auto", "disable_parallel_tool_use": True}


class _Reading:
    """Gathers a reply from a whole message or from its events."""

    def __init__(self) -> None:
        self.model = ""
        self.stop = ""
        self._said: dict[int, tuple[str, str]] = {}
        self._usage: dict[str, int] = {}

    def add_message(self, message: Any) -> None:
        self.model = getattr(message, "model", None) or ""
        self.stop = getattr(message, "stop_reason", None) or "end_turn"
        self._count(getattr(message, "usage", None))
        for number, block in enumerate(getattr(message, "content", None) or ()):
            if block.type == "tool_use":
                self._said[number] = ("tool_use", json.dumps(block.input, ensure_ascii=False))
            elif block.type in ("text", "thinking"):
                self._said[number] = (block.type, getattr(block, block.type) or "")

    def add_event(self, event: Any) -> str:
        """Take one event in and return the text that it adds."""
        if event.type == "message_start":
            self.model = event.message.model
            self._count(event.message.usage)
        elif event.type == "content_block_start":
            self._said[event.index] = (event.content_block.type, "")
        elif event.type == "content_block_delta":
            return self._add_delta(event.index, event.delta)
        elif event.type == "message_delta":
            self.stop = event.delta.stop_reason or self.stop
            self._count(event.usage)
        elif event.type == "message_stop":
            self.stop = self.stop or "end_turn"
        return ""

    def _add_delta(self, index: int, delta: Any) -> str:
        name = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}.get(delta.type)
        if name is None:
            return ""
        kind, text = self._said.get(index, ("text", ""))
        piece: str = getattr(delta, name)
        self._said[index] = (kind, text + piece)
        return "" if name == "thinking" else piece

    def _count(self, usage: Any) -> None:
        for ours, theirs in (
            ("input", "input_tokens"),
            ("cache_read", "cache_read_input_tokens"),
            ("cache_write", "cache_creation_input_tokens"),
            ("output", "output_tokens"),
        ):
            value = getattr(usage, theirs, None)
            if value is not None:
                self._usage[ours] = read_count(value)

    def reply(self, shape: ReplyShape | None) -> Reply:
        text = compose(shape, self._of("text"), self._of("tool_use"), self._of("thinking"))
        return Reply(text, TokenCount(**self._usage), self.model, _STOPS.get(self.stop, "end"))

    def _of(self, kind: str) -> list[str]:
        return [text for said, text in self._said.values() if said == kind and text.strip()]


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    kept = choose_marks(messages, MARKS)
    return [
        {"role": message.role, "content": [_block(part, kept) for part in message.parts if not _is_empty(part)]}
        for message in messages
    ]


def _is_empty(part: Text | Image) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _block(part: Text | Image, marked: list[Text]) -> dict[str, Any]:
    if isinstance(part, Text):
        is_marked = any(part is mark for mark in marked)
        return {"type": "text", "text": part.text, **(_CACHED if is_marked else {})}
    data = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": data}}
