import asyncio
from decimal import Decimal

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.metering import MeteredModel
from appliance.errors import BrowserLost, MoneySpent, RunFailed
from appliance.events import TokenCount
from appliance.models.base import ModelRequest, OnText, Purpose, Reply
from appliance.words import FailureKind


class PromptModel:
    """Answers with the system prompt it is given, or never when that is empty."""

    name = "prompt"
    sees_images = False
    context_window = None
    compacts_itself = False

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        if not request.system:
            await asyncio.Event().wait()
        return Reply(request.system, TokenCount(input=1000), self.name)

    async def close(self) -> None:
        pass


def metered(lost: asyncio.Event | None = None, cap: Decimal | None = None) -> tuple[MeteredModel, Budget]:
    budget = Budget(Assignment("Do it", max_cost_usd=cap), lambda tokens: Decimal(tokens.input) / 100_000)
    return MeteredModel(PromptModel(), budget, lost or asyncio.Event()), budget


async def test_every_reply_is_charged():
    model, budget = metered()
    await model.ask(ModelRequest(Purpose.STEP, "Hello", ()))
    await model.ask(ModelRequest(Purpose.EXTRACT, "Hello", ()))
    assert budget.spent.tokens.input == 2000
    assert budget.spent.cost_usd == Decimal("0.02")


async def test_no_call_is_made_that_the_cap_does_not_cover():
    model, _ = metered(cap=Decimal("0.01"))
    await model.ask(ModelRequest(Purpose.STEP, "Hello", ()))
    with pytest.raises(MoneySpent):
        await model.ask(ModelRequest(Purpose.EXTRACT, "Hello", ()))


async def test_a_model_that_does_not_answer_in_time_is_a_provider_timeout():
    model, _ = metered()
    with pytest.raises(RunFailed, match="did not answer within") as failed:
        await model.ask(ModelRequest(Purpose.STEP, "", (), timeout=0.05))
    assert failed.value.failure is FailureKind.PROVIDER_TIMEOUT


async def test_a_call_is_given_up_when_the_browser_goes_away():
    lost = asyncio.Event()
    model, _ = metered(lost)
    asking = asyncio.create_task(model.ask(ModelRequest(Purpose.STEP, "", ())))
    lost.set()
    async with asyncio.timeout(5):
        with pytest.raises(BrowserLost):
            await asking


async def test_a_stop_reaches_the_call_that_is_waited_for():
    model, _ = metered()
    asking = asyncio.create_task(model.ask(ModelRequest(Purpose.STEP, "", ())))
    done, _ = await asyncio.wait({asking}, timeout=0.01)
    assert not done
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
