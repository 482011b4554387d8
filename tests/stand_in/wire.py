"""The three wire formats: how a request is read, and how an answer is written, whole or as server-sent events."""

import base64
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

PIECE = 60
"""Characters in one streamed piece."""

Event = tuple[str, dict[str, Any] | str]
"""Name ("" for none) and data of one server-sent event."""


@dataclass(frozen=True)
class Block:
    """A part of an answer: text, reasoning, or a call of the first tool offered, whose input is `value`."""

    kind: Literal["text", "thinking", "call"]
    text: str
    value: Any = None

    @property
    def pieces(self) -> list[str]:
        """The text, cut for streaming."""
        return [self.text[start : start + PIECE] for start in range(0, len(self.text), PIECE)]


@dataclass(frozen=True)
class Spoken:
    """An answer, ready to be written in any of the formats."""

    blocks: tuple[Block, ...]
    model: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    stop: str = "end"
    tool: str = ""

    def of_kind(self, *kinds: str) -> list[Block]:
        """The blocks of these kinds."""
        return [block for block in self.blocks if block.kind in kinds]


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
    calls = bool(spoken.of_kind("call"))
    stop = {"length": "max_tokens", "refusal": "refusal"}.get(spoken.stop, "tool_use" if calls else "end_turn")
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "content": [_anthropic_block(block, spoken.tool, number) for number, block in enumerate(spoken.blocks, 1)],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": spoken.usage["input"],
            "cache_read_input_tokens": spoken.usage["cache_read"],
            "cache_creation_input_tokens": spoken.usage["cache_write"],
            "output_tokens": spoken.usage["output"],
        },
    }


def _anthropic_block(block: Block, tool: str, number: int) -> dict[str, Any]:
    if block.kind == "call":
        return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": block.value}
    if block.kind == "thinking":
        return {"type": "thinking", "thinking": block.text, "signature": "c2lnbmVk"}
    return {"type": "text", "text": block.text}


def anthropic_events(spoken: Spoken) -> Iterator[Event]:
    """Yield the events of the streamed message."""
    message = anthropic(spoken)
    started = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    empty = {"call": {"input": {}}, "text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
    deltas = {
        "call": ("input_json_delta", "partial_json"),
        "text": ("text_delta", "text"),
        "thinking": ("thinking_delta", "thinking"),
    }

    def event(name: str, **values: Any) -> Event:
        return name, {"type": name, **values}

    yield event("message_start", message=started)
    for index, (block, written) in enumerate(zip(spoken.blocks, message["content"], strict=True)):
        yield event("content_block_start", index=index, content_block={**written, **empty[block.kind]})
        kind, name = deltas[block.kind]
        for piece in block.pieces:
            yield event("content_block_delta", index=index, delta={"type": kind, name: piece})
        yield event("content_block_stop", index=index)
    yield event(
        "message_delta",
        delta={"stop_reason": message["stop_reason"], "stop_sequence": None},
        usage={"output_tokens": spoken.usage["output"]},
    )
    yield event("message_stop")


# OpenAI Responses


def responses(spoken: Spoken) -> dict[str, Any]:
    """Return the whole response."""
    status = "incomplete" if spoken.stop == "length" else "completed"
    total = spoken.usage["input"] + spoken.usage["cache_read"] + spoken.usage["cache_write"]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": spoken.model,
        "output": [_responses_item(block, spoken.stop, number) for number, block in enumerate(spoken.blocks, 1)],
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


def _responses_item(block: Block, stop: str, number: int) -> dict[str, Any]:
    if block.kind == "thinking":
        summary = [{"type": "summary_text", "text": block.text}]
        return {"id": f"rs_{number}", "type": "reasoning", "summary": summary}
    part = (
        {"type": "refusal", "refusal": block.text}
        if stop == "refusal"
        else {"type": "output_text", "text": block.text, "annotations": []}
    )
    status = "incomplete" if stop == "length" else "completed"
    return {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status, "content": [part]}


def responses_events(spoken: Spoken) -> Iterator[Event]:
    """Yield the events of the streamed response."""
    response = responses(spoken)
    numbers = iter(range(100_000))
    kind = "refusal" if spoken.stop == "refusal" else "output_text"

    def event(name: str, **values: Any) -> Event:
        return name, {"type": name, "sequence_number": next(numbers), **values}

    yield event("response.created", response={**response, "status": "in_progress", "output": [], "usage": None})
    for index, (block, item) in enumerate(zip(spoken.blocks, response["output"], strict=True)):
        parts = {"summary": []} if block.kind == "thinking" else {"status": "in_progress", "content": []}
        yield event("response.output_item.added", output_index=index, item={**item, **parts})
        if block.kind != "thinking":
            where = {"item_id": item["id"], "output_index": index, "content_index": 0}
            empty = {**item["content"][0], ("refusal" if kind == "refusal" else "text"): ""}
            yield event("response.content_part.added", part=empty, **where)
            for piece in block.pieces:
                more = {} if kind == "refusal" else {"logprobs": []}
                yield event(f"response.{kind}.delta", delta=piece, **where, **more)
            yield event("response.content_part.done", part=item["content"][0], **where)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.incomplete" if spoken.stop == "length" else "response.completed", response=response)


# OpenAI chat completions, as compatible servers speak them


def chat(spoken: Spoken) -> dict[str, Any]:
    """Return the whole completion."""
    calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": spoken.tool, "arguments": block.text}}
        for number, block in enumerate(spoken.of_kind("call"), 1)
    ]
    finish = {"length": "length", "refusal": "content_filter"}.get(spoken.stop, "tool_calls" if calls else "stop")
    texts = [block.text for block in spoken.of_kind("text")]
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) if texts else None}
    if calls:
        message["tool_calls"] = calls
    if thoughts := spoken.of_kind("thinking"):
        message["reasoning_content"] = "".join(block.text for block in thoughts)
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

    yield chunk({"role": "assistant", "content": "" if spoken.of_kind("text") else None})
    for block in spoken.of_kind("thinking", "text"):
        for piece in block.pieces:
            yield chunk({"content" if block.kind == "text" else "reasoning_content": piece})
    for index, block in enumerate(spoken.of_kind("call")):
        call = {**whole["choices"][0]["message"]["tool_calls"][index], "index": index}
        yield chunk({"tool_calls": [{**call, "function": {"name": spoken.tool, "arguments": ""}}]})
        for piece in block.pieces:
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
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
