import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from appliance.errors import RunFailed
from appliance.events import TokenCount
from appliance.models.base import Message, Model, OnText, Text
from appliance.models.openai import OpenAIModel
from appliance.models.providers import ProviderKeys, find_model, open_model
from appliance.models.remote import USUAL_CALL
from appliance.words import Effort, FailureKind
from tests.appliance.models.asking import GPT, SHAPE, a_request, body_of, opened
from tests.stand_in import StandIn

HIGH = (Effort.HIGH, Effort.XHIGH, Effort.MAX)


async def test_the_schema_rides_at_the_end_of_the_system_prompt():
    body = await body_of(GPT)
    assert body["instructions"].startswith("You use a browser.")
    schema = body["instructions"].split("<json_schema>")[1].removesuffix("</json_schema>")
    assert json.loads(schema) == SHAPE.schema
    assert "tools" not in body
    assert "text" not in body
    assert body["store"] is False


async def test_where_the_shape_has_an_outline_the_prompt_shows_that():
    body = await body_of(GPT, shape=replace(SHAPE, outline={"type": "object"}))
    assert body["instructions"].endswith('<json_schema>{"type":"object"}</json_schema>')


@pytest.mark.parametrize(
    ("name", "effort", "sent", "most_tokens"),
    [
        ("gpt-5.6-terra", None, None, 24_192),
        ("gpt-5.6-terra", Effort.NONE, "none", 16_000),
        ("gpt-5.6-terra", Effort.MAX, "max", 44_672),
        ("gpt-5.5", Effort.MAX, "xhigh", 44_672),
        ("gpt-5-mini", Effort.NONE, None, 24_192),
        ("gpt-5-mini", Effort.MINIMAL, "minimal", 18_048),
    ],
)
async def test_effort_is_sent_as_the_model_knows_it_with_room_to_reason(
    name: str, effort: Effort | None, sent: str | None, most_tokens: int
):
    body = await body_of(name, effort=effort)
    assert body.get("reasoning") == ({"effort": sent} if sent else None)
    assert body["max_output_tokens"] == most_tokens


async def test_turns_are_written_as_input_and_output():
    request = a_request(Text("Task."))
    turns = (*request.messages, Message("assistant", (Text("{}"),)), Message("user", (Text("Again."),)))
    async with StandIn() as stand_in, opened(GPT, stand_in) as model:
        await model.ask(type(request)(request.purpose, "", turns, SHAPE))
    kinds = [(turn["role"], turn["content"][0]["type"]) for turn in stand_in.requests[0].body["input"]]
    assert kinds == [("user", "input_text"), ("assistant", "output_text"), ("user", "input_text")]


async def test_long_requests_are_compacted_by_the_provider_from_150_000_tokens_on():
    async with StandIn() as stand_in, opened(GPT, stand_in) as model:
        await model.ask(a_request())
        assert model.compacts_itself
        assert model.context_window == 1_050_000
    assert stand_in.requests[0].body["context_management"] == [{"type": "compaction", "compact_threshold": 150_000}]


async def test_the_requests_of_one_run_share_a_cache_key_that_no_other_run_has():
    async with StandIn() as stand_in:
        for _ in range(2):
            async with opened(GPT, stand_in) as model:
                await model.ask(a_request())
                await model.ask(a_request())
    keys = [received.body["prompt_cache_key"] for received in stand_in.requests]
    assert keys[0] == keys[1] != keys[2] == keys[3]


async def test_a_model_that_caches_at_marks_is_told_where_the_repeated_prefix_ends():
    marks = [{"mode": "explicit"}, {"mode": "explicit"}, None, None]
    body = await body_of(GPT)
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert [part.get("prompt_cache_breakpoint") for part in body["input"][0]["content"]] == marks
    older = await body_of("gpt-5.5")
    assert "prompt_cache_options" not in older
    assert not any("prompt_cache_breakpoint" in part for part in older["input"][0]["content"])


async def test_of_many_marks_the_first_and_the_newest_are_set():
    parts = tuple(Text(f"Part {number}.", ends_prefix=True) for number in range(6))
    async with StandIn() as stand_in, opened(GPT, stand_in) as model:
        await model.ask(a_request(*parts))
    content = stand_in.requests[0].body["input"][0]["content"]
    marked = [part["text"] for part in content if "prompt_cache_breakpoint" in part]
    assert marked == ["Part 0.", "Part 3.", "Part 4.", "Part 5."]


@pytest.mark.parametrize(
    "refused",
    ["Unknown parameter: 'prompt_cache_options'.", "input[0].content[0].prompt_cache_breakpoint: extra field"],
)
async def test_a_server_that_knows_no_marks_gets_none(refused: str):
    scenario = [{"__http__": 400, "message": refused}, {"done": {"text": "x"}}]
    async with StandIn(scenario) as stand_in, opened(GPT, stand_in) as model:
        await model.ask(a_request())
    assert "prompt_cache_options" not in stand_in.requests[1].body
    assert "prompt_cache_breakpoint" not in json.dumps(stand_in.requests[1].body)


async def test_what_only_the_provider_itself_takes_is_left_out_once_another_server_refuses_it():
    said = "Unknown parameter: 'context_management'."
    scenario = [{"__http__": 400, "message": said}, {"done": {"text": "x"}}]
    async with StandIn(scenario) as stand_in, opened(GPT, stand_in) as model:
        await model.ask(a_request())
        await model.ask(a_request())
        assert not model.compacts_itself
    sent = ["context_management" in received.body for received in stand_in.requests]
    assert sent == [True, False, False]
    assert all("prompt_cache_key" in received.body for received in stand_in.requests)


async def test_items_that_are_no_message_are_read_over():
    message = {
        "id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": '{"action": []}', "annotations": []}],
    }  # fmt: skip
    odd = [{"id": "c", "type": "compaction", "encrypted_content": "…"}, {"id": "x", "type": "of_next_year"}, message]
    body = {"status": "completed", "output": odd, "usage": {"input_tokens": 5}}
    async with StandIn([{"__http__": 200, "body": body}]) as stand_in, opened(GPT, stand_in) as model:
        reply = await model.ask(a_request())
    assert (reply.text, reply.tokens, reply.stop) == ('{"action": []}', TokenCount(input=5), "end")


async def test_streamed_events_of_unknown_kinds_are_read_over_and_of_known_ones_parts_may_be_missing():
    told: list[object] = [
        {"type": "response.of_next_year", "response": 5},
        {"type": "response.output_text.delta", "delta": '{"action"'},
        {"type": "response.output_text.delta", "output_index": [], "delta": None},
        {"type": "response.output_text.delta", "delta": ": []}"},
        {"type": "response.completed", "response": {"status": "completed", "usage": {"input_tokens": 5}}},
    ]
    pieces: list[str] = []
    async with serving(told) as keys, asked_at(keys) as model:
        reply = await model.ask(a_request(), _keep_in(pieces))
    assert "".join(pieces) == '{"action": []}'
    assert (reply.text, reply.tokens, reply.stop) == ('{"action": []}', TokenCount(input=5), "end")


@pytest.mark.parametrize("last", [5, {"type": "response.completed", "response": "done"}])
async def test_a_stream_of_something_else_is_not_intelligible(last: object):
    async with serving([last]) as keys, asked_at(keys) as model:
        with pytest.raises(RunFailed) as caught:
            await model.ask(a_request(), _keep_in([]))
    assert caught.value.failure is FailureKind.PROVIDER_ERROR


@asynccontextmanager
async def serving(events: list[object]) -> AsyncIterator[ProviderKeys]:
    """Answer every request with a stream of those events."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length"))
        await reader.readexactly(int(length.partition(b":")[2]))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.writelines(f"data: {json.dumps(event)}\n\n".encode() for event in events)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield ProviderKeys(openai_key="k", openai_base_url=f"http://127.0.0.1:{port}/v1")


@asynccontextmanager
async def asked_at(keys: ProviderKeys) -> AsyncIterator[Model]:
    """The model whose provider these keys name."""
    model = open_model(find_model(GPT, keys), keys)
    try:
        yield model
    finally:
        await model.close()


def _keep_in(pieces: list[str]) -> OnText:
    async def keep(text: str) -> None:
        pieces.append(text)

    return keep


async def test_a_try_may_take_90_seconds_and_240_at_high_effort():
    async with StandIn() as stand_in, opened(GPT, stand_in) as model:
        assert isinstance(model, OpenAIModel)
        tries = [model.patience(a_request(effort=effort, timeout=999.0)) for effort in (None, Effort.LOW, *HIGH)]
        assert tries == [90, 90, 240, 240, 240]
        assert [USUAL_CALL * model.slowness(effort) for effort in (None, Effort.HIGH)] == [180, 240]
