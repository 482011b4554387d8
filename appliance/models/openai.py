"""OpenAI's Responses API: the schema rides in the system prompt and the reply is text, so any model can give it."""

import base64
import json
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from appliance.events import TokenCount
from appliance.models.base import Image, Message, ModelRequest, OnText, Reply, ReplyShape, Text
from appliance.models.catalog import ModelEntry
from appliance.models.failures import Service
from appliance.models.loading import Kit
from appliance.models.remote import (
    SDK_RETRIES,
    RemoteModel,
    choose_marks,
    count_tokens,
    give_up_on_long_waits,
    read_error_body,
)
from appliance.models.replies import compose
from appliance.words import Effort

if TYPE_CHECKING:
    from openai import AsyncOpenAI

COMPACT_FROM = 150_000
"""Tokens of a request from which on the provider is to compact it."""

MARKS = 4
"""Cache marks that one request may set."""

_EXTRAS = ("context_management", "prompt_cache_key", "prompt_cache_options", "prompt_cache_breakpoint")
"""What servers that imitate the provider may not know; left out once refused."""

_REASONING_TOKENS = {
    Effort.NONE: 0,
    Effort.MINIMAL: 2_048,
    Effort.LOW: 4_096,
    Effort.MEDIUM: 8_192,
    Effort.HIGH: 16_384,
    Effort.XHIGH: 28_672,
    Effort.MAX: 28_672,
}


class OpenAIModel(RemoteModel):
    """One of OpenAI's models."""

    usual_patience = 90.0
    long_patience = 240.0

    def __init__(self, entry: ModelEntry, key: str, base_url: str = "") -> None:
        super().__init__(entry, Service("OpenAI", base_url, "OPENAI_API_KEY", "OPENAI_BASE_URL", key))
        self._cache_key = f"pilothouse-{uuid4().hex[:16]}"
        self._refused: set[str] = set()

    def connect(self, kit: Kit) -> "AsyncOpenAI":
        """Return the client."""
        return open_client(kit, self.service.key, self.service.address or "https://api.openai.com/v1")

    @property
    def compacts_itself(self) -> bool:
        """Whether the provider shortens requests that grow beyond COMPACT_FROM."""
        return "context_management" not in self._refused and (self.context_window or 0) > COMPACT_FROM

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Ask, and once more without what only the provider itself takes where another server refuses that."""
        from openai import BadRequestError  # noqa: PLC0415

        try:
            return await self._ask_once(request, on_text)
        except BadRequestError as error:
            refused = {name for name in _EXTRAS if name in error.message} - self._refused
            if not refused:
                raise
            self._refused |= refused
        return await self._ask_once(request, on_text)

    async def _ask_once(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        from openai import AsyncStream, Timeout  # noqa: PLC0415

        # As an extra body it goes out as it is; as arguments the client walks through all of it first, which takes ms.
        client: Any = self._client
        body = self.body(request)
        timeout = Timeout(self.patience(request), connect=10.0)
        if on_text is None:
            return self._read(await client.responses.create(extra_body=body, timeout=timeout), request)
        # Events are taken as they come: the client would try each against every kind of event there is.
        asking = client.post(
            "/responses",
            body={**body, "stream": True},
            options={"timeout": timeout},
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        async with await asking as events:
            with self.streaming():
                return await self._read_stream(events, request, on_text)

    async def _read_stream(self, events: Any, request: ModelRequest, on_text: OnText) -> Reply:
        from openai.types.responses import Response  # noqa: PLC0415

        texts: dict[str, str] = {}
        begun = False
        async for event in events:
            if not isinstance(event, dict):
                raise self.service.unintelligible()
            begun, told = True, cast("dict[str, Any]", event)
            kind = told.get("type")
            if kind in ("response.output_text.delta", "response.refusal.delta"):
                index, delta = str(told.get("output_index")), str(told.get("delta") or "")
                texts[index] = texts.get(index, "") + delta
                await on_text(delta)
            elif kind in ("response.completed", "response.incomplete", "response.failed"):
                whole = told.get("response")
                response = Response.construct(**cast("dict[str, Any]", whole)) if isinstance(whole, dict) else None
                return self._read(response, request, tuple(texts.values()))
            elif kind == "error":
                raise self.service.failed_inside(str(told.get("code") or ""), str(told.get("message") or ""))
        if not begun:
            raise self.service.unintelligible()
        raise self.service.broke_off("the stream ended without its last event")

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Return the request in the form of the Responses API."""
        effort = self.entry.nearest_effort(request.effort)
        sets_marks = self.entry.caches_at_marks and self._refused.isdisjoint(_EXTRAS[2:])
        marked = choose_marks(request.messages, MARKS) if sets_marks else []
        room = _REASONING_TOKENS[effort or self.entry.default_effort or Effort.NONE]
        body: dict[str, Any] = {
            "model": self.entry.api_name,
            "instructions": with_schema(request.system, request.shape),
            "input": [_turn(message, marked) for message in request.messages],
            "max_output_tokens": min(request.max_output_tokens + room, self.entry.max_output_tokens),
            "store": False,
        }
        if effort is not None:
            body["reasoning"] = {"effort": str(effort)}
        if self.compacts_itself:
            body["context_management"] = [{"type": "compaction", "compact_threshold": COMPACT_FROM}]
        if "prompt_cache_key" not in self._refused:
            body["prompt_cache_key"] = self._cache_key
        if sets_marks:  # Otherwise the end of every request is written to the cache, which costs and is never read.
            body["prompt_cache_options"] = {"mode": "explicit"}
        return body

    def _read(self, response: Any, request: ModelRequest, streamed: tuple[str, ...] = ()) -> Reply:
        """Return the reply in a response, whatever else is in it; `streamed` is its text where the end repeats none."""
        from openai.types.responses import Response  # noqa: PLC0415

        if not isinstance(response, Response):
            raise self.service.unintelligible()
        fault: Any = getattr(response, "error", None)
        if fault or response.status == "failed":
            raise self.service.failed_inside(*read_error_body({"error": fault.model_dump() if fault else {}}))
        items: list[Any] = getattr(response, "output", None) or []
        said = [_said(item) for item in items if item.type == "message"]
        texts = [text for text, _ in said if text] or list(streamed)
        thoughts = [
            part.text for item in items if item.type == "reasoning" for part in getattr(item, "summary", None) or ()
        ]
        reason = getattr(getattr(response, "incomplete_details", None), "reason", None)
        refused = reason == "content_filter" or any(is_refusal for _, is_refusal in said)
        stop = "refusal" if refused else "length" if response.status == "incomplete" else "end"
        text = compose(request.shape, texts, thoughts=thoughts)
        return Reply(text, _count(response.usage), getattr(response, "model", None) or self.entry.api_name, stop)


def open_client(kit: Kit, key: str, base_url: str) -> "AsyncOpenAI":
    """Return a client for the address."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

    return AsyncOpenAI(
        api_key=key,
        base_url=base_url,
        max_retries=SDK_RETRIES,
        http_client=DefaultAsyncHttpxClient(verify=kit.tls, event_hooks={"response": [give_up_on_long_waits]}),
    )


def with_schema(system: str, shape: ReplyShape | None) -> str:
    """Return the system prompt with the reply's schema at its end, for APIs that are not given it in another way."""
    if shape is None:
        return system
    schema = json.dumps(shape.shown, ensure_ascii=False, separators=(",", ":"))
    return (
        f"{system}\n\nReply with one JSON object that is valid against this schema, and with nothing else: "
        f"no code fence, no words before or after it. {shape.description}\n<json_schema>{schema}</json_schema>"
    )


def data_url(image: Image) -> str:
    """Return the picture as a data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


def _said(item: Any) -> tuple[str, bool]:
    """Return the text of a message and whether it is a refusal."""
    parts: list[Any] = getattr(item, "content", None) or []
    refusals = [part.refusal for part in parts if part.type == "refusal"]
    texts = [getattr(part, "text", None) or "" for part in parts if part.type != "refusal"]
    return "".join(refusals or texts), bool(refusals)


def _turn(message: Message, marked: list[Text]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Image):
            content.append({"type": "input_image", "image_url": data_url(part), "detail": "auto"})
        elif part.text:
            kind = "input_text" if message.role == "user" else "output_text"
            is_marked = any(part is mark for mark in marked)
            mark = {"prompt_cache_breakpoint": {"mode": "explicit"}} if is_marked and kind == "input_text" else {}
            content.append({"type": kind, "text": part.text, **mark})
    return {"role": message.role, "content": content}


def _count(usage: Any) -> TokenCount:
    """Return the tokens by class; the provider's input is the whole, of which the cached ones are a part."""
    if usage is None:
        return TokenCount()
    asked, said = getattr(usage, "input_tokens", 0), getattr(usage, "output_tokens", 0)
    return count_tokens(asked, getattr(usage, "input_tokens_details", None), said)
