"""Any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, gateways.

Servers differ in how a reply can be held to a schema, so the ways are tried from the strictest to none at all; what a
server refused is not tried again by the same model.
"""

import re
from typing import TYPE_CHECKING, Any, Literal, cast

import structlog

from appliance.errors import ContextOverflow
from appliance.events import TokenCount
from appliance.models.base import Image, Message, ModelRequest, OnText, Reply, ReplyShape
from appliance.models.catalog import ModelEntry
from appliance.models.failures import Service
from appliance.models.loading import Kit
from appliance.models.openai import data_url, open_client, with_schema
from appliance.models.remote import RemoteModel, count_tokens, read_error_body
from appliance.models.replies import compose, is_object

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Way = Literal["json_schema", "tool", "json_object", "text"]
WAYS: tuple[Way, ...] = ("json_schema", "tool", "json_object", "text")
"""How a reply is held to its schema, strictest first."""

_REFUSALS = (400, 404, 415, 422, 500, 501)
"""Statuses with which servers are known to answer to a response format or a tool that they do not have."""

_ABOUT_IMAGES = re.compile(r"image|vision|multimodal|mmproj", re.IGNORECASE)
_THOUGHTS = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
_log = structlog.get_logger()


class CompatibleModel(RemoteModel):
    """One of the models of the operator's own server, which may be slow."""

    usual_patience = 300.0
    long_patience = 300.0

    def __init__(self, entry: ModelEntry, key: str, base_url: str) -> None:
        service = Service("The compatible server", base_url, "COMPATIBLE_API_KEY", "COMPATIBLE_BASE_URL", key)
        super().__init__(entry, service)
        self.way: Way = WAYS[0]
        self._warnings: list[str] = []

    def connect(self, kit: Kit) -> "AsyncOpenAI":
        """Return the client; servers without keys are sent a word instead, which the client insists on."""
        return open_client(kit, self.service.key or "none", self.service.address)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Ask, in a less strict way each time the server refuses, and remember the first that it took."""
        from openai import APIStatusError  # noqa: PLC0415

        if request.shape is None:
            return (await self._without_images(request, on_text, "text"))[0]
        first: APIStatusError | None = None
        for way in WAYS[WAYS.index(self.way) :]:
            try:
                reply, is_held = await self._without_images(request, on_text, way)
            except APIStatusError as error:
                if error.status_code not in _REFUSALS or self._is_overflow(error):
                    raise
                first = first or error
            else:
                self._settle(way, is_ignored=reply.stop == "end" and not is_held)
                return self._with_warnings(reply)
        if first is None:
            raise self.service.unintelligible()
        raise first

    async def _without_images(self, request: ModelRequest, on_text: OnText | None, way: Way) -> tuple[Reply, bool]:
        """Ask in this way; without pictures, now and from here on, when the server says it takes none."""
        from openai import APIStatusError  # noqa: PLC0415

        try:
            return await self._ask_in(request, on_text, way)
        except APIStatusError as error:
            is_about_images = _ABOUT_IMAGES.search(error.message) and not self._is_overflow(error)
            if not self.sees_images or not _has_images(request) or not is_about_images:
                raise
            self.sees_images = False
            self._warn(f"{self.name} takes no pictures, so it works from the text of the page alone.")
            return await self._ask_in(request, on_text, way)

    async def _ask_in(self, request: ModelRequest, on_text: OnText | None, way: Way) -> tuple[Reply, bool]:
        """Return the reply, and whether it keeps to the form that it was asked for in."""
        from openai import Timeout  # noqa: PLC0415
        from openai.types.chat import ChatCompletion  # noqa: PLC0415

        create: Any = self._client.chat.completions.create
        body = self.body(request, way)
        if on_text is not None:
            body |= {"stream_options": {"include_usage": True}}
        # As an extra body it goes out as it is; as arguments the client walks through all of it first, which takes ms.
        asked = {"model": body["model"], "messages": (), "extra_body": body}
        timeout = Timeout(self.patience(request), connect=10.0)
        reading = _Reading()
        if on_text is None:
            completion = await create(**asked, timeout=timeout)
            if not isinstance(completion, ChatCompletion):
                raise self.service.unintelligible()
            if fault := getattr(completion, "error", None):
                raise self.service.failed_inside(*read_error_body({"error": fault}))
            reading.add(completion, whole=True)
        else:
            async with await create(**asked, timeout=timeout, stream=True) as chunks:
                with self.streaming():
                    async for chunk in chunks:
                        if piece := reading.add(chunk, whole=False):
                            await on_text(piece)
        if not reading.begun:
            raise self.service.unintelligible()
        return reading.reply(self.entry.api_name, request.shape), reading.is_held

    def body(self, request: ModelRequest, way: Way) -> dict[str, Any]:
        """Return the request in the form of chat completions, held to the schema in the given way."""
        turns = [_turn(message, with_images=self.sees_images) for message in request.messages]
        # A tool brings its schema along; a response format is a grammar, which most servers keep from the model.
        system = request.system if way == "tool" else with_schema(request.system, request.shape)
        body: dict[str, Any] = {
            "model": self.entry.api_name,
            "messages": [{"role": "system", "content": system}, *turns] if system else turns,
            # A server of one's own refuses more than its context window holds, so a long retry stays at this size.
            "max_tokens": min(request.max_output_tokens, max(16_000, self.entry.max_output_tokens)),
        }
        return {**body, **(_held_to(request.shape, way) if request.shape else {})}

    def _settle(self, way: Way, *, is_ignored: bool) -> None:
        """Keep to the way that the server took, or to free text when it took a stricter one and ignores it."""
        if is_ignored and way != "text":
            self._warn(
                "The compatible server ignores the form that replies are asked for in, so they are read out of its "
                "text; a server that holds replies to a JSON Schema works more surely."
            )
            self.way = "text"
        elif way != self.way:
            given = {"tool": "a forced tool", "json_object": "plain JSON", "text": "free text"}[way]
            self._warn(
                f"The compatible server does not hold replies to a JSON Schema, so {given} is asked for instead."
            )
            self.way = way

    def _is_overflow(self, error: Any) -> ContextOverflow | None:
        word, said = read_error_body(error.body)
        return self.service.overflow(error.status_code, word, said or error.message)

    def _warn(self, warning: str) -> None:
        _log.warning("model_degraded", model=self.name, text=warning)
        self._warnings.append(warning)

    def _with_warnings(self, reply: Reply) -> Reply:
        warnings, self._warnings = tuple(self._warnings), []
        return Reply(reply.text, reply.tokens, reply.model_name, reply.stop, warnings)


class _Reading:
    """Gathers a reply from a whole completion or from its chunks."""

    def __init__(self) -> None:
        self.begun = False
        self._model = ""
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._arguments: dict[int, str] = {}
        self._finish = ""
        self._usage: Any = None
        self._refused = False

    @property
    def is_held(self) -> bool:
        """Whether what was said, if anything, keeps to the form it was asked for in: a call, or an object alone."""
        text = "".join(self._texts)
        return bool(self._arguments) or not text.strip() or is_object(text)

    def add(self, answer: Any, *, whole: bool) -> str:
        """Take a completion or a chunk in and return the text that it adds."""
        self.begun = True
        self._model = getattr(answer, "model", None) or self._model
        self._usage = getattr(answer, "usage", None) or self._usage
        choices: list[Any] = getattr(answer, "choices", None) or []
        said: Any = getattr(choices[0], "message" if whole else "delta", None) if choices else None
        if said is None:
            return ""
        self._finish = getattr(choices[0], "finish_reason", None) or self._finish
        arguments = self._add_calls(getattr(said, "tool_calls", None) or [])
        for name in ("reasoning_content", "reasoning"):
            self._thoughts.append(_text_of(getattr(said, name, None)))
        refusal = _text_of(getattr(said, "refusal", None))
        self._refused = self._refused or bool(refusal)
        text = _text_of(getattr(said, "content", None)) or refusal
        if text:
            self._texts.append(text)
        return text or arguments

    def _add_calls(self, calls: list[Any]) -> str:
        """Take calls in, which a stream writes piece by piece under their number."""
        added = ""
        for number, call in enumerate(calls):
            if call.function and call.function.arguments:
                index = getattr(call, "index", None)
                index = number if index is None else index
                self._arguments[index] = self._arguments.get(index, "") + call.function.arguments
                added += call.function.arguments
        return added

    def reply(self, asked_model: str, shape: ReplyShape | None) -> Reply:
        texts = [_THOUGHTS.sub("", "".join(self._texts))]
        text = compose(shape, texts, list(self._arguments.values()), ["".join(self._thoughts)])
        refused = self._refused or self._finish == "content_filter"
        stop = "refusal" if refused else "length" if self._finish == "length" else "end"
        return Reply(text, _count(self._usage), self._model or asked_model, stop)


def _text_of(content: object) -> str:
    """Return the text of a message's content, which some servers send as a list of parts."""
    if isinstance(content, list):
        parts = [cast("dict[str, Any]", part) for part in cast("list[object]", content) if isinstance(part, dict)]
        return "".join(_text_of(part.get("text")) for part in parts if part.get("type", "text") == "text")
    return content if isinstance(content, str) else ""


def _held_to(shape: ReplyShape, way: Way) -> dict[str, Any]:
    if way == "json_schema":
        schema = {"name": shape.name, "description": shape.description, "schema": shape.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if way == "tool":
        function = {"name": shape.name, "description": shape.description, "parameters": shape.schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": shape.name}},
        }
    return {"response_format": {"type": "json_object"}} if way == "json_object" else {}


def _has_images(request: ModelRequest) -> bool:
    return any(isinstance(part, Image) for message in request.messages for part in message.parts)


def _turn(message: Message, *, with_images: bool) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if not isinstance(part, Image):
            content.append({"type": "text", "text": part.text})
        elif with_images:
            content.append({"type": "image_url", "image_url": {"url": data_url(part)}})
    if all(part["type"] == "text" for part in content):  # the form that every server knows
        return {"role": message.role, "content": "".join(part["text"] for part in content)}
    return {"role": message.role, "content": content}


def _count(usage: Any) -> TokenCount:
    """Return the tokens by class; zeros when the server does not count."""
    if usage is None:
        return TokenCount()
    asked, said = getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0)
    return count_tokens(asked, getattr(usage, "prompt_tokens_details", None), said)
