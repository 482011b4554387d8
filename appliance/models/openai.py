"""OpenAI's Responses API: the schema rides in the system prompt and the reply is text, so any model can give it."""

import base64
import json
from typing import TYPE_CHECKING, Any

from appliance.events import TokenCount
from appliance.models.base import Image, Message, ModelRequest, OnText, Reply, ReplyShape
from appliance.models.catalog import ModelEntry
from appliance.models.failures import Service
from appliance.models.loading import Kit
from appliance.models.remote import (
    SDK_RETRIES,
    BrokenOff,
    RemoteModel,
    count_tokens,
    give_up_on_long_waits,
    read_error_body,
)
from appliance.words import Effort

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PATIENCE = 90.0
LONG_PATIENCE = 240.0
_LONG = (Effort.HIGH, Effort.XHIGH, Effort.MAX)
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

    def __init__(self, entry: ModelEntry, key: str, base_url: str = "") -> None:
        super().__init__(entry, Service("OpenAI", base_url, "OPENAI_API_KEY", "OPENAI_BASE_URL", key))

    def connect(self, kit: Kit) -> "AsyncOpenAI":
        """Return the client."""
        return open_client(kit, self.service.key, self.service.address or "https://api.openai.com/v1")

    def patience(self, request: ModelRequest) -> float:
        """Return the seconds one try may take, which depend on the effort."""
        seconds = LONG_PATIENCE if self._expected_effort(request) in _LONG else PATIENCE
        return min(seconds, request.timeout)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Ask once and return the reply."""
        from openai import Timeout  # noqa: PLC0415

        create: Any = self._client.responses.create
        body = self.body(request)
        timeout = Timeout(self.patience(request), connect=10.0)
        if on_text is None:
            return self._read(await create(**body, timeout=timeout))
        begun = False
        async with await create(**body, timeout=timeout, stream=True) as events:
            async for event in events:
                begun = True
                if event.type in ("response.output_text.delta", "response.refusal.delta"):
                    await on_text(event.delta)
                elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                    return self._read(event.response)
                elif event.type == "error":
                    raise BrokenOff(self.service.broke_off(event.code or "", event.message))
        if not begun:
            raise self.service.unintelligible()
        raise BrokenOff(self.service.broke_off("", "the stream ended without its last event"))

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """Return the request in the form of the Responses API."""
        effort = self.entry.nearest_effort(request.effort)
        room = _REASONING_TOKENS[self._expected_effort(request) or Effort.NONE]
        body: dict[str, Any] = {
            "model": self.entry.api_name,
            "instructions": with_schema(request.system, request.shape),
            "input": [_turn(message) for message in request.messages],
            "max_output_tokens": min(request.max_output_tokens + room, self.entry.max_output_tokens),
            "store": False,
        }
        if effort is not None:
            body["reasoning"] = {"effort": str(effort)}
        return body

    def _expected_effort(self, request: ModelRequest) -> Effort | None:
        return self.entry.nearest_effort(request.effort) or self.entry.default_effort

    def _read(self, response: Any) -> Reply:
        from openai.types.responses import Response  # noqa: PLC0415

        if not isinstance(response, Response):
            raise self.service.unintelligible()
        if response.status == "failed":
            word, said = read_error_body(response.error.model_dump() if response.error else {})
            raise BrokenOff(self.service.broke_off(word, said))
        reason = response.incomplete_details.reason if response.incomplete_details else None
        texts: list[str] = []
        refused = reason == "content_filter"
        for item in response.output:
            for part in item.content if item.type == "message" else ():
                refused = refused or part.type == "refusal"
                texts.append(part.refusal if part.type == "refusal" else part.text)
        stop = "refusal" if refused else "length" if response.status == "incomplete" else "end"
        return Reply("".join(texts), _count(response.usage), response.model, stop)


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
    schema = json.dumps(shape.schema, ensure_ascii=False, separators=(",", ":"))
    return (
        f"{system}\n\nReply with one JSON object that is valid against this schema, and with nothing else: "
        f"no code fence, no words before or after it. {shape.description}\n<json_schema>{schema}</json_schema>"
    )


def data_url(image: Image) -> str:
    """Return the picture as a data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


def _turn(message: Message) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Image):
            content.append({"type": "input_image", "image_url": data_url(part), "detail": "auto"})
        elif part.text:
            kind = "input_text" if message.role == "user" else "output_text"
            content.append({"type": kind, "text": part.text})
    return {"role": message.role, "content": content}


def _count(usage: Any) -> TokenCount:
    """Return the tokens by class; the provider's input is the whole, of which the cached ones are a part."""
    if usage is None:
        return TokenCount()
    return count_tokens(usage.input_tokens, usage.input_tokens_details, usage.output_tokens)
