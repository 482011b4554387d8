import json
from dataclasses import replace

import pytest

from appliance.errors import ContextOverflow, RunFailed
from appliance.events import TokenCount
from appliance.models.base import Text
from appliance.models.providers import ProviderKeys, find_model, open_model
from tests.appliance.models.asking import LOCAL, PICTURE, SHAPE, a_request, keys_for, opened
from tests.stand_in import Received, StandIn

WAYS = {
    "json_schema": lambda body: body.get("response_format", {}).get("type") == "json_schema",
    "tool": lambda body: "tools" in body,
    "json_object": lambda body: body.get("response_format") == {"type": "json_object"},
    "text": lambda body: "tools" not in body and "response_format" not in body,
}


def way_of(received: Received) -> str:
    return next(way for way, holds in WAYS.items() if holds(received.body))


async def test_a_server_that_holds_replies_to_a_schema_is_given_it():
    async with StandIn() as stand_in, opened(LOCAL, stand_in) as model:
        reply = await model.ask(a_request())
    body = stand_in.requests[0].body
    assert body["response_format"]["json_schema"]["schema"] == SHAPE.schema
    assert body["model"] == LOCAL
    assert reply.warnings == ()


@pytest.mark.parametrize(
    ("refuses", "way"),
    [
        (["json_schema"], "tool"),
        (["json_schema", "tools"], "json_object"),
        (["json_schema", "tools", "json_object"], "text"),
    ],
)
async def test_what_the_server_refuses_is_given_up_once_and_said_once(refuses: list[str], way: str):
    steps = [{"wait": {}}, {"done": {"text": "x"}}]
    async with StandIn(steps, refuses=refuses) as stand_in, opened(LOCAL, stand_in) as model:
        first = await model.ask(a_request())
        tried = [way_of(received) for received in stand_in.requests]
        second = await model.ask(a_request())
        assert way_of(stand_in.requests[-1]) == way
        assert len(stand_in.requests) == len(tried) + 1
    assert tried == list(WAYS)[: list(WAYS).index(way) + 1]
    assert json.loads(first.text)["action"] == [{"wait": {}}]
    assert json.loads(second.text)["action"] == [{"done": {"text": "x"}}]
    assert "does not hold replies to a JSON Schema" in first.warnings[0]
    assert second.warnings == ()


async def test_a_schema_is_told_once_in_every_way_and_a_grammar_is_the_whole_of_it():
    shape = replace(SHAPE, outline={"type": "object", "properties": {"action": {}}})
    async with StandIn(refuses=["json_schema", "tools", "json_object"]) as stand_in, opened(LOCAL, stand_in) as model:
        await model.ask(a_request(shape=shape))
    for received in stand_in.requests:
        told = f"<json_schema>{json.dumps(shape.outline, separators=(',', ':'))}</json_schema>" in received.text
        assert told == ("tools" not in received.body)
    grammar, tool, *_ = (received.body for received in stand_in.requests)
    assert grammar["response_format"]["json_schema"]["schema"] == shape.schema
    assert tool["tools"][0]["function"]["parameters"] == shape.schema


async def test_a_server_that_fails_whatever_it_is_asked_is_told_by_its_first_word():
    step = {"__http__": 400, "message": "the model is not loaded"}
    async with StandIn([step]) as stand_in, opened(LOCAL, stand_in) as model:
        with pytest.raises(RunFailed, match="the model is not loaded"):
            await model.ask(a_request())
        assert [way_of(received) for received in stand_in.requests] == list(WAYS)
        with pytest.raises(RunFailed):
            await model.ask(a_request())
        assert way_of(stand_in.requests[4]) == "json_schema"


async def test_a_server_without_eyes_gets_the_text_alone():
    async with StandIn([{"wait": {}}], refuses=["images"]) as stand_in, opened(LOCAL, stand_in) as model:
        reply = await model.ask(a_request())
        await model.ask(a_request())
        assert not model.sees_images
    assert [received.images for received in stand_in.requests] == [[PICTURE], [], []]
    assert stand_in.requests[1].body["messages"][1]["content"] == "The task.History.[3]<button>Save"
    assert any("takes no pictures" in warning for warning in reply.warnings)


async def test_thoughts_before_the_reply_are_left_out():
    step = {"reply": '<think>\nHm, {"a": 1}?\n</think>\n\n{"action": []}', "__text__": True}
    async with StandIn([step]) as stand_in, opened(LOCAL, stand_in) as model:
        assert (await model.ask(a_request())).text == '{"action": []}'


async def test_a_server_needs_no_key():
    async with StandIn() as stand_in:
        keys = ProviderKeys(compatible_base_url=stand_in.compatible_url, compatible_models=(LOCAL,))
        model = open_model(find_model(LOCAL, keys), keys)
        reply = await model.ask(a_request(Text("Task.")))
        await model.close()
    assert "done" in reply.text


async def test_a_server_that_ignores_the_form_of_replies_is_told_once_and_read_by_its_text():
    prose = {"reply": {"wait": {}}, "__leak__": "fence"}
    async with StandIn([prose]) as stand_in, opened(LOCAL, stand_in) as model:
        first, second = await model.ask(a_request()), await model.ask(a_request())
    assert [way_of(received) for received in stand_in.requests] == ["json_schema", "text"]
    assert json.loads(first.text)["action"] == json.loads(second.text)["action"] == [{"wait": {}}]
    assert [len(first.warnings), len(second.warnings)] == [1, 0]
    assert "ignores the form" in first.warnings[0]


async def test_an_empty_answer_is_no_sign_of_a_server_that_ignores_the_form():
    async with StandIn([{"reply": "", "__text__": True}]) as stand_in, opened(LOCAL, stand_in) as model:
        replies = [await model.ask(a_request()), await model.ask(a_request())]
    assert [way_of(received) for received in stand_in.requests] == ["json_schema", "json_schema"]
    assert [reply.warnings for reply in replies] == [(), ()]


async def test_too_long_a_request_is_not_taken_for_a_form_or_a_picture_that_the_server_refuses():
    async with StandIn([{"__overflow__": True}]) as stand_in, opened(LOCAL, stand_in) as model:
        with pytest.raises(ContextOverflow):
            await model.ask(a_request())
        assert len(stand_in.requests) == 1
        assert model.sees_images


async def test_the_window_is_what_the_operator_says_and_unknown_otherwise():
    async with StandIn() as stand_in:
        keys = keys_for(stand_in)
        assert open_model(find_model(LOCAL, keys), keys).context_window is None
        keys = replace(keys, compatible_context_window=8_192)
        assert open_model(find_model(LOCAL, keys), keys).context_window == 8_192


@pytest.mark.parametrize(
    "message",
    [
        {"content": '{"action": []}'},
        {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": '{"action": []}'}]},
        {"tool_calls": [{"function": {"arguments": '{"action": []}'}}]},
        {"content": None, "reasoning": 'So: {"what_i_see": "", "action": []}'},
    ],
)
async def test_an_answer_with_parts_missing_is_read_all_the_same(message: dict):
    body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 3}}
    async with StandIn([{"__http__": 200, "body": body}]) as stand_in, opened(LOCAL, stand_in) as model:
        reply = await model.ask(a_request())
    assert json.loads(reply.text)["action"] == []
    assert (reply.tokens, reply.model_name, reply.stop) == (TokenCount(input=3), LOCAL, "end")


@pytest.mark.parametrize(
    ("counted", "tokens"),
    [
        ({"prompt_tokens": 12.0, "completion_tokens": 3}, TokenCount(input=12, output=3)),
        ({"prompt_tokens": "12", "completion_tokens": 3}, TokenCount(output=3)),
        ({"prompt_tokens": [12], "completion_tokens": None, "prompt_tokens_details": [1]}, TokenCount()),
        ({"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": {}}}, TokenCount(input=12)),
        ("none", TokenCount()),
    ],
)
async def test_tokens_that_are_no_number_are_not_counted(counted: object, tokens: TokenCount):
    body = {"choices": [{"message": {"content": '{"action": []}'}}], "usage": counted}
    async with StandIn([{"__http__": 200, "body": body}]) as stand_in, opened(LOCAL, stand_in) as model:
        assert (await model.ask(a_request())).tokens == tokens


async def test_an_answer_without_choices_is_an_empty_one():
    async with StandIn([{"__http__": 200, "body": {"choices": []}}]) as stand_in, opened(LOCAL, stand_in) as model:
        assert (await model.ask(a_request())).text == ""
