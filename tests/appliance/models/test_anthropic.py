from dataclasses import replace

import pytest

from appliance.errors import ContextOverflow
from appliance.events import TokenCount
from appliance.models.base import Message, Text
from appliance.words import Effort
from tests.appliance.models.asking import CLAUDE, PICTURE, SHAPE, a_request, ask_both_ways, body_of, opened, same_json
from tests.stand_in import StandIn

MARK = {"type": "ephemeral"}


async def test_the_reply_shape_is_the_first_and_only_tool():
    body = await body_of(CLAUDE)
    assert body["tools"] == [
        {"name": SHAPE.name, "description": SHAPE.description, "input_schema": SHAPE.schema},
    ]


async def test_where_the_shape_has_an_outline_the_tool_shows_that():
    body = await body_of(CLAUDE, shape=replace(SHAPE, outline={"type": "object"}))
    assert body["tools"][0]["input_schema"] == {"type": "object"}


async def test_the_prefix_is_marked_after_the_system_prompt_and_where_the_request_says():
    body = await body_of(CLAUDE)
    assert body["system"] == [{"type": "text", "text": "You use a browser.", "cache_control": MARK}]
    task, history, page, picture = body["messages"][0]["content"]
    assert task == {"type": "text", "text": "The task.", "cache_control": MARK}
    assert history["cache_control"] == MARK
    assert page == {"type": "text", "text": "[3]<button>Save"}
    assert picture["source"]["media_type"] == "image/jpeg"
    assert "cache_control" not in picture


async def test_no_more_marks_are_set_than_the_api_takes():
    parts = tuple(Text(f"Part {number}.", ends_prefix=True) for number in range(5))
    async with StandIn() as stand_in, opened(CLAUDE, stand_in) as model:
        await model.ask(a_request(*parts, Text("", ends_prefix=True)))
    blocks = stand_in.requests[0].body["messages"][0]["content"]
    assert [block["text"] for block in blocks if "cache_control" in block] == ["Part 0.", "Part 3.", "Part 4."]
    assert len(blocks) == 5


async def test_turns_keep_their_roles():
    request = a_request()
    turns = (*request.messages, Message("assistant", (Text("{}"),)), Message("user", (Text("Again."),)))
    body = await body_of(CLAUDE, shape=None, system="")
    assert "system" not in body
    async with StandIn() as stand_in, opened(CLAUDE, stand_in) as model:
        await model.ask(type(request)(request.purpose, "", turns))
    assert [turn["role"] for turn in stand_in.requests[0].body["messages"]] == ["user", "assistant", "user"]
    assert stand_in.requests[0].images == [PICTURE]


@pytest.mark.parametrize(
    ("name", "effort", "thinking", "level", "choice"),
    [
        ("claude-sonnet-5", None, None, None, "auto"),
        ("claude-sonnet-5", Effort.NONE, {"type": "disabled"}, None, "tool"),
        ("claude-sonnet-5", Effort.HIGH, {"type": "adaptive"}, "high", "auto"),
        ("claude-opus-4.7", None, None, None, "tool"),
        ("claude-opus-4.7", Effort.NONE, None, None, "tool"),
        ("claude-opus-4.7", Effort.XHIGH, {"type": "adaptive"}, "xhigh", "auto"),
        ("claude-haiku-4.5", None, None, None, "tool"),
        ("claude-haiku-4.5", Effort.MEDIUM, {"type": "enabled", "budget_tokens": 8_192}, None, "auto"),
        ("claude-fable-5", Effort.NONE, None, None, "auto"),
        ("claude-sonnet-5.5", Effort.NONE, {"type": "between_tools"}, None, "auto"),
        ("claude-haiku-5.5", Effort.NONE, {"type": "disabled"}, None, "auto"),
    ],
)
async def test_the_tool_is_forced_only_where_the_model_does_not_think(
    name: str, effort: Effort | None, thinking: object, level: str | None, choice: str
):
    body = await body_of(name, effort=effort)
    assert body.get("thinking") == thinking
    assert body.get("output_config") == ({"effort": level} if level else None)
    assert body["tool_choice"]["type"] == choice
    assert body["tool_choice"]["disable_parallel_tool_use"] is True
    if isinstance(thinking, dict) and "budget_tokens" in thinking:
        assert body["max_tokens"] == 16_000 + thinking["budget_tokens"]


async def test_a_reply_in_text_instead_of_the_tool_is_taken_too():
    step = {"reply": {"done": {"text": "x"}}, "__text__": True}
    async with StandIn([step]) as stand_in, opened(CLAUDE, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert same_json(whole.text, streamed.text)
    assert '"done"' in whole.text


async def test_the_answer_to_a_long_retry_has_a_ceiling_of_64_000_tokens():
    assert (await body_of(CLAUDE, max_output_tokens=64_000))["max_tokens"] == 64_000
    assert (await body_of("claude-haiku-4.5", max_output_tokens=64_000, effort=Effort.HIGH))["max_tokens"] == 64_000


async def test_tokens_that_are_no_number_are_not_counted():
    body = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "end_turn",
        "usage": {"input_tokens": "7", "cache_read_input_tokens": 5.0, "output_tokens": {}},
    }  # fmt: skip
    async with StandIn([{"__http__": 200, "body": body}]) as stand_in, opened(CLAUDE, stand_in) as model:
        assert (await model.ask(a_request())).tokens == TokenCount(cache_read=5)


async def test_a_reply_that_hits_the_end_of_the_window_is_an_overflow():
    body = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": "model_context_window_exceeded", "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    async with StandIn([{"__http__": 200, "body": body}]) as stand_in, opened(CLAUDE, stand_in) as model:
        with pytest.raises(ContextOverflow, match="no room"):
            await model.ask(a_request())
