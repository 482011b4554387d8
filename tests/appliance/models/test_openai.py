import json

import pytest

from appliance.models.base import Message, Text
from appliance.words import Effort
from tests.appliance.models.asking import GPT, SHAPE, a_request, opened
from tests.stand_in import StandIn


async def body_of(name: str, **changes: object) -> dict:
    async with StandIn() as stand_in, opened(name, stand_in) as model:
        await model.ask(a_request(**changes))
    return stand_in.requests[0].body


async def test_the_schema_rides_at_the_end_of_the_system_prompt():
    body = await body_of(GPT)
    assert body["instructions"].startswith("You use a browser.")
    schema = body["instructions"].split("<json_schema>")[1].removesuffix("</json_schema>")
    assert json.loads(schema) == SHAPE.schema
    assert "tools" not in body
    assert "text" not in body
    assert body["store"] is False


@pytest.mark.parametrize(
    ("name", "effort", "sent", "most_tokens"),
    [
        ("gpt-5.6-terra", None, None, 24_192),
        ("gpt-5.6-terra", Effort.NONE, "none", 16_000),
        ("gpt-5.6-terra", Effort.MAX, "max", 44_672),
        ("gpt-5.5", Effort.MAX, "xhigh", 44_672),
        ("gpt-5-mini", Effort.NONE, "minimal", 18_048),
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
