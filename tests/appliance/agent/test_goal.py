import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from appliance.agent.goal import MAX_GOAL, first_sentence, state_goal
from appliance.models.base import Model
from tests.appliance.agent.conftest import open_model_of
from tests.stand_in import StandIn

TASK = "Find the cheapest lamp. Then write down its price and where it is sold."


@asynccontextmanager
async def asked(*goals: object, provider: str = "anthropic") -> AsyncIterator[tuple[Model, StandIn]]:
    stand_in = StandIn({"steps": [{"wait": {}}], "goals": list(goals)} if goals else ())
    model = open_model_of(stand_in, provider)
    yield model, stand_in
    await model.close()
    await asyncio.to_thread(stand_in.close)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])
async def test_the_goal_is_one_sentence_from_one_cheap_call(provider: str):
    async with asked('GOAL: "One lamp with\nits price."', provider=provider) as (model, stand_in):
        assert await state_goal(model, TASK) == "One lamp with its price."
    (request,) = stand_in.requests
    assert request.kind == "goal"
    assert TASK in request.texts[-1]
    assert len(request.text) < 1_000
    assert "tools" not in request.body


@pytest.mark.parametrize(
    "failure",
    [
        {"__http__": 400, "message": "No."},
        {"__drop__": True},
        {"reply": "Half a sent", "__truncated__": 5},
        {"reply": "I cannot.", "__refusal__": True},
        "  ",
    ],
)
async def test_where_the_model_does_not_say_it_the_first_sentence_of_the_task_is_the_goal(failure: object):
    async with asked(failure) as (model, _):
        assert await state_goal(model, TASK) == "Find the cheapest lamp."


async def test_a_model_that_needs_a_page_is_not_asked_in_vain():
    async with asked(provider="autopilot") as (model, stand_in):
        assert await state_goal(model, TASK) == "Find the cheapest lamp."
    assert stand_in.requests == []


def test_the_first_sentence_ends_at_a_stop_or_a_line_and_is_never_long():
    assert first_sentence("\n Open  the shop\nand buy") == "Open the shop"
    assert first_sentence("See v1.2 of http://a.test/x. Then stop") == "See v1.2 of http://a.test/x."
    assert first_sentence("Wie viel? Sag es!") == "Wie viel?"
    assert len(first_sentence("x" * 1_000)) == MAX_GOAL
    assert first_sentence("") == ""
