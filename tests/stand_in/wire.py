"""The three wire formats: how a request is read, and how an answer is written, whole or as server-sent events."""

import base64
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

PIECE = 60
"""Characters in one streamed piece."""

Event = tuple[str, dict[str, Any] | str]
"""Name ("" for none) and data of one server-sent event."""


@dataclass(frozen=True)
class Spoken:
    """An answer, ready to be written in any of the formats."""

    text: str
    as_object: Any = None
    model: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    stop: str = "end"
    tool: str = ""

    @property
    def pieces(self) -> Iterator[str]:
        """The text, cut for streaming."""
        return (self.text[start : start + PIECE] for start in range(0, len(self.text), PIECE))


@dataclass(frozen=True)
class Asked:
    """What a request says: its texts from first to last, its pictures, the schema of its reply if it names one."""

    texts: list[str]
    images: list[bytes]
    schema: dict[str, Any] | None


def read_request(body: dict[str, Any]) -> Asked:
    """Return the content of a request in any of the formats."""
    texts: list[str] = []
    images: list[bytes] = []
    for part in ("system", "instructions", "messages", "input"):
        _collect(body.get(part), texts, images)
    return Asked(texts, images, _find_schema(body, texts))


def _collect(node: Any, texts: list[str], images: list[bytes]) -> None:
    if isinstance(node, str):
        if node.startswith("data:image/"):
            images.append(base64.b64decode(node.split(",", 1)[1]))
        else:
            texts.append(node)
    elif isinstance(node, list):
        for item in node:
            _collect(item, texts, images)
    elif isinstance(node, dict):
        if node.get("type") == "base64":
            images.append(base64.b64decode(node["data"]))
            return
        for key, value in node.items():
            if key in ("content", "text", "source", "image_url", "url", "input"):
                _collect(value, texts, images)


def _find_schema(body: dict[str, Any], texts: list[str]) -> dict[str, Any] | None:
    for tool in body.get("tools") or []:
        return tool.get("input_schema") or tool.get("function", {}).get("parameters") or tool.get("parameters")
    response_format = body.get("response_format") or {}
    if "json_schema" in response_format:
        return response_format["json_schema"]["schema"]
    for text in texts:
        if "<json_schema>" in text:
            return json.loads(text.split("<json_schema>", 1)[1].split("</json_schema>", 1)[0])
    return None


def first_tool(body: dict[str, Any]) -> str:
    """Return the name of the first tool offered, or an empty string."""
    tools = body.get("tools") or [{}]
    return tools[0].get("name") or tools[0].get("function", {}).get("name", "")


# Anthropic Messages


def anthropic(spoken: Spoken) -> dict[str, Any]:
    """Return the whole message."""
    stop = {"length": "max_tokens", "refusal": "refusal"}.get(spoken.stop, "tool_use" if spoken.tool else "end_turn")
    if spoken.tool:
        content = {"type": "tool_use", "id": "toolu_1", "name": spoken.tool, "input": spoken.as_object}
    else:
        content = {"type": "text", "text": spoken.text}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "content": [content],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": spoken.usage["input"],
            "cache_read_input_tokens": spoken.usage["cache_read"],
            "cache_creation_input_tokens": spoken.usage["cache_write"],
            "output_tokens": spoken.usage["output"],
        },
    }


def anthropic_events(spoken: Spoken) -> Iterator[Event]:
    """Yield the events of the streamed message."""
    message = anthropic(spoken)
    started = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}

    def event(name: str, **values: Any) -> Event:
        return name, {"type": name, **values}

    yield event("message_start", message=started)
    block = message["content"][0]
    empty = {**block, "input": {}} if spoken.tool else {**block, "text": ""}
    yield event("content_block_start", index=0, content_block=empty)
    for piece in spoken.pieces:
        delta = (
            {"type": "input_json_delta", "partial_json": piece}
            if spoken.tool
            else {"type": "text_delta", "text": piece}
        )
        yield event("content_block_delta", index=0, delta=delta)
    yield event("content_block_stop", index=0)
    yield event(
        "message_delta",
        delta={"stop_reason": message["stop_reason"], "stop_sequence": None},
        usage={"output_tokens": spoken.usage["output"]},
    )
    yield event("message_stop")


# OpenAI Responses


def responses(spoken: Spoken) -> dict[str, Any]:
    """Return the whole response."""
    part = (
        {"type": "refusal", "refusal": spoken.text}
        if spoken.stop == "refusal"
        else {"type": "output_text", "text": spoken.text, "annotations": []}
    )
    status = "incomplete" if spoken.stop == "length" else "completed"
    total = spoken.usage["input"] + spoken.usage["cache_read"] + spoken.usage["cache_write"]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": spoken.model,
        "output": [{"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": [part]}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if spoken.stop == "length" else None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": total,
            "input_tokens_details": {
                "cached_tokens": spoken.usage["cache_read"],
                "cache_write_tokens": spoken.usage["cache_write"],
            },
            "output_tokens": spoken.usage["output"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": total + spoken.usage["output"],
        },
    }


def responses_events(spoken: Spoken) -> Iterator[Event]:
    """Yield the events of the streamed response."""
    response = responses(spoken)
    numbers = iter(range(100_000))
    message = response["output"][0]
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    kind = "refusal" if spoken.stop == "refusal" else "output_text"
    empty = {**message["content"][0], ("refusal" if kind == "refusal" else "text"): ""}

    def event(name: str, **values: Any) -> Event:
        return name, {"type": name, "sequence_number": next(numbers), **values}

    yield event("response.created", response={**response, "status": "in_progress", "output": [], "usage": None})
    yield event("response.output_item.added", output_index=0, item={**message, "status": "in_progress", "content": []})
    yield event("response.content_part.added", part=empty, **where)
    for piece in spoken.pieces:
        yield event(f"response.{kind}.delta", delta=piece, **where, **({} if kind == "refusal" else {"logprobs": []}))
    yield event("response.content_part.done", part=message["content"][0], **where)
    yield event("response.output_item.done", output_index=0, item=message)
    yield event("response.incomplete" if spoken.stop == "length" else "response.completed", response=response)


# OpenAI chat completions, as compatible servers speak them


def chat(spoken: Spoken) -> dict[str, Any]:
    """Return the whole completion."""
    finish = {"length": "length", "refusal": "content_filter"}.get(spoken.stop, "tool_calls" if spoken.tool else "stop")
    message: dict[str, Any] = {"role": "assistant", "content": spoken.text}
    if spoken.tool:
        call = {"id": "call_1", "type": "function", "function": {"name": spoken.tool, "arguments": spoken.text}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        **_chat_head(spoken, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _chat_usage(spoken),
    }


def chat_events(spoken: Spoken) -> Iterator[Event]:
    """Yield the chunks of the streamed completion."""
    whole = chat(spoken)
    head = _chat_head(spoken, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": "" if not spoken.tool else None})
    if spoken.tool:
        call = {**whole["choices"][0]["message"]["tool_calls"][0], "index": 0}
        yield chunk({"tool_calls": [{**call, "function": {"name": spoken.tool, "arguments": ""}}]})
    for piece in spoken.pieces:
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if spoken.tool else {"content": piece}
        yield chunk(delta)
    yield chunk({}, whole["choices"][0]["finish_reason"])
    yield "", {**head, "choices": [], "usage": whole["usage"]}
    yield "", "[DONE]"


def _chat_head(spoken: Spoken, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": spoken.model}


def _chat_usage(spoken: Spoken) -> dict[str, Any]:
    total = spoken.usage["input"] + spoken.usage["cache_read"] + spoken.usage["cache_write"]
    return {
        "prompt_tokens": total,
        "completion_tokens": spoken.usage["output"],
        "total_tokens": total + spoken.usage["output"],
        "prompt_tokens_details": {"cached_tokens": spoken.usage["cache_read"]},
    }
