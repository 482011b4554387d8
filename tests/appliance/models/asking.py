"""What the adapters' tests ask with: a request, its shape, and a model whose provider is the stand-in."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from appliance.models.base import Image, Message, Model, ModelRequest, Purpose, ReplyShape, Text
from appliance.models.providers import ProviderKeys, find_model, open_model
from tests.stand_in import StandIn

KEY = "sk-test-0123456789abcdef"
LOCAL = "qwen3:30b"
CLAUDE, GPT = "claude-sonnet-5", "gpt-5.6-terra"
ALL = (CLAUDE, GPT, LOCAL)
PICTURE = b"\xff\xd8 a picture"
SHAPE = ReplyShape(
    "reply",
    "Your next step.",
    {
        "type": "object",
        "properties": {"what_i_see": {"type": "string"}, "action": {"type": "array"}},
        "required": ["what_i_see", "action"],
        "additionalProperties": False,
    },
)


def a_request(*parts: Text | Image, **changes: Any) -> ModelRequest:
    """A request for a step with these parts, by default a task, history, an observation and a picture."""
    shown = parts or (Text("The task.", True), Text("History.", True), Text("[3]<button>Save"), Image(PICTURE))
    values: dict[str, Any] = {"purpose": Purpose.STEP, "system": "You use a browser.", "shape": SHAPE, "timeout": 20.0}
    return ModelRequest(messages=(Message("user", shown),), **{**values, **changes})


def keys_for(stand_in: StandIn) -> ProviderKeys:
    """Keys and addresses that lead to the stand-in."""
    return ProviderKeys(
        anthropic_key=KEY,
        anthropic_base_url=stand_in.anthropic_url,
        openai_key=KEY,
        openai_base_url=stand_in.openai_url,
        compatible_base_url=stand_in.compatible_url,
        compatible_key=KEY,
        compatible_models=(LOCAL,),
    )


@asynccontextmanager
async def opened(name: str, stand_in: StandIn) -> AsyncIterator[Model]:
    """The model of that name, asked at the stand-in."""
    keys = keys_for(stand_in)
    model = open_model(find_model(name, keys), keys)
    try:
        yield model
    finally:
        await model.close()


async def body_of(name: str, **changes: Any) -> dict[str, Any]:
    """Return the body in which a request reaches the provider of a model."""
    async with StandIn() as stand_in, opened(name, stand_in) as model:
        await model.ask(a_request(**changes))
    return stand_in.requests[0].body


async def ask_both_ways(model: Model, request: ModelRequest) -> tuple[Any, Any, list[str]]:
    """The reply as a whole, the reply streamed, and the streamed pieces."""
    pieces: list[str] = []

    async def keep(piece: str) -> None:
        pieces.append(piece)

    return await model.ask(request), await model.ask(request, keep), pieces


def same_json(one: str, other: str) -> bool:
    """Whether two texts are the same JSON value."""
    return json.loads(one) == json.loads(other)
