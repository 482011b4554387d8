import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.estimate import estimate
from appliance.agent.metering import MeteredModel
from appliance.content import Content
from appliance.errors import BrowserLost, MoneySpent, RunFailed
from appliance.events import TokenCount
from appliance.models.base import Image, Message, ModelRequest, OnText, Purpose, Reply, ReplyShape, Scene, Text
from appliance.models.failures import Service
from appliance.pause import Pause
from appliance.sensitive import SensitiveData
from appliance.words import Effort, FailureKind


class PromptModel:
    """Answers with the system prompt it is given, or never when that is empty."""

    name = "prompt"
    sees_images = False
    context_window: int | None = None
    compacts_itself = False
    tokens = TokenCount(input=1000, output=10)

    def slowness(self, effort: Effort | None) -> float:
        return 1.0

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        if not request.system:
            await asyncio.Event().wait()
        return Reply(request.system, self.tokens, self.name)

    async def close(self) -> None:
        pass


def metered(lost: asyncio.Event | None = None, cap: Decimal | None = None) -> tuple[MeteredModel, Budget]:
    budget = Budget(Assignment("Do it", max_cost_usd=cap), lambda tokens: Decimal(tokens.input) / 100_000)
    return MeteredModel(PromptModel(), budget, lost or asyncio.Event()), budget


async def test_that_a_model_takes_no_pictures_is_known_as_soon_as_it_is_found():
    inner = PromptModel()
    inner.sees_images = True
    model = MeteredModel(inner, metered()[1], asyncio.Event())
    assert model.sees_images
    inner.sees_images = False
    assert not model.sees_images


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


@pytest.mark.parametrize("purpose", list(Purpose))
async def test_no_request_of_any_kind_leaves_with_a_secret_in_it(purpose: Purpose):
    sensitive = SensitiveData.read({"good.test": {"pw": "hunter & 22"}, "other.test": {"pw": "another-one"}})
    asked: list[ModelRequest] = []

    class Listening(PromptModel):
        async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
            asked.append(request)
            return await super().ask(request)

    budget = Budget(Assignment("Do it"), lambda tokens: Decimal(0))
    model = MeteredModel(Listening(), budget, asyncio.Event(), sensitive)
    image = Image(b"hunter & 22 is no text here")
    text = Text("page: hunter &amp; 22, /?p=hunter%20%26%2022", ends_prefix=True)
    scene = Scene(task="hunter & 22", carried="another-one", content=Content("u", "t", "hunter & 22", ()))
    await model.ask(ModelRequest(purpose, "hunter & 22", (Message("user", (text, image)),), scene=scene))
    (request,) = asked
    assert "hunter" not in f"{request.system} {request.messages[0].parts[0]} {request.scene}"
    assert "another-one" not in f"{request.scene}"
    assert request.messages[0].parts == (
        Text("page: <secret>pw</secret>, /?p=<secret>pw</secret>", ends_prefix=True),
        image,
    )


async def test_a_call_out_of_time_is_charged_by_estimate():
    model, budget = metered()
    with pytest.raises(RunFailed):
        await model.ask(ModelRequest(Purpose.STEP, "", (Message("user", (Text("x" * 4000),)),), timeout=0.05))
    assert budget.spent.tokens.input >= 1000
    assert budget.spent.estimated_calls == 1
    assert budget.spent.cost_usd is not None
    assert budget.spent.cost_usd > 0


async def test_a_call_that_a_stop_interrupts_is_charged_by_estimate():
    model, budget = metered()
    asking = asyncio.create_task(model.ask(ModelRequest(Purpose.STEP, "", (Message("user", (Text("x" * 4000),)),))))
    done, _ = await asyncio.wait({asking}, timeout=0.01)
    assert not done
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (budget.spent.tokens.input >= 1000, budget.spent.estimated_calls) == (True, 1)


async def test_a_call_that_is_answered_or_refused_is_not_estimated():
    model, budget = metered(cap=Decimal("0.01"))
    await model.ask(ModelRequest(Purpose.STEP, "Hello", ()))
    with pytest.raises(MoneySpent):
        await model.ask(ModelRequest(Purpose.STEP, "Hello", ()))
    assert budget.spent.estimated_calls == 0


LONG = ModelRequest(Purpose.STEP, "Hello", (Message("user", (Text("x" * 4000),)),))


def reporting(tokens: TokenCount, price: Decimal = Decimal("0.001")) -> tuple[MeteredModel, Budget]:
    """Return a model whose replies tell these tokens, each of which costs so much."""
    model = PromptModel()
    model.tokens = tokens
    budget = Budget(Assignment("Do it"), lambda used: price * (used.input + used.cache_read + used.output))
    return MeteredModel(model, budget, asyncio.Event()), budget


@pytest.mark.parametrize("told", [TokenCount(), TokenCount(input=-1_000_000, output=-5)])
async def test_a_reply_that_does_not_tell_what_it_took_is_charged_by_estimate(told: TokenCount):
    model, budget = reporting(told)
    reply = await model.ask(LONG)
    (charge,) = budget.charges
    assert charge.is_estimated
    assert charge.tokens == reply.tokens == TokenCount(input=estimate(LONG, 0).input, output=2)
    assert charge.cost_usd == Decimal("0.001") * (charge.tokens.input + 2)


async def test_what_a_reply_tells_in_part_is_kept_and_the_rest_is_estimated():
    model, budget = reporting(TokenCount(cache_read=700))
    await model.ask(LONG)
    assert budget.spent.tokens == TokenCount(cache_read=700, output=2)


async def test_no_call_takes_more_tokens_than_the_ledger_can_hold():
    model, budget = reporting(TokenCount(input=10**18, output=3))
    await model.ask(LONG)
    assert (budget.spent.tokens.input, budget.spent.estimated_calls) == (100_000_000, 1)


async def test_a_model_that_costs_nothing_is_not_estimated():
    model, budget = reporting(TokenCount(), price=Decimal(0))
    await model.ask(LONG)
    assert budget.charges == ()


class FailingModel(PromptModel):
    """Fails in the given way."""

    def __init__(self, fault: RunFailed) -> None:
        self.fault = fault

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        raise self.fault


@pytest.mark.parametrize("is_begun", [True, False])
async def test_an_answer_that_breaks_off_is_charged_by_estimate_and_one_that_never_began_is_not(is_begun: bool):
    service = Service("The provider", "", "KEY", "ADDRESS", "")
    fault = service.broke_off("reset") if is_begun else service.unreachable(ConnectionError("refused"))
    _, budget = metered()
    with pytest.raises(RunFailed):
        await MeteredModel(FailingModel(fault), budget, asyncio.Event()).ask(LONG)
    assert budget.spent.estimated_calls == is_begun
    assert (budget.spent.tokens.input >= 1000) is is_begun


def test_an_estimate_counts_text_shape_pictures_and_a_reply_of_the_usual_length():
    shape = ReplyShape("reply", "x" * 400, {"type": "object"})
    parts = (Text("x" * 4000), Image(b"jpeg"))
    request = ModelRequest(Purpose.STEP, "x" * 400, (Message("user", parts),), shape=shape)
    bare = estimate(ModelRequest(Purpose.STEP, "x" * 400, (Message("user", parts[:1]),)), 0)
    assert bare.input == 1100
    assert bare.output > 0
    assert estimate(request, 50).input > bare.input + 1000
    assert estimate(request, 50).output == 50
    assert estimate(replace(request, max_output_tokens=10), 50).output == 10


async def test_a_run_stands_still_once_it_is_paused_and_no_call_is_under_way():
    pause, budget = Pause(), metered()[1]
    model = MeteredModel(PromptModel(), budget, asyncio.Event(), pause=pause)
    await model.ask(ModelRequest(Purpose.STEP, "Hello", ()))
    assert model.standing is None
    asking = asyncio.create_task(model.ask(ModelRequest(Purpose.STEP, "", ())))
    await asyncio.sleep(0)
    pause.pause()
    assert model.standing is None, "the call may cost something yet"
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert model.standing == sum(charge.cost_usd or 0 for charge in budget.charges) >= Decimal("0.01")
    waiting = asyncio.create_task(model.ask(ModelRequest(Purpose.STEP, "Hello", ())))
    await asyncio.sleep(0)
    assert model.standing is not None, "it begins after the pause"
    pause.resume()
    assert model.standing is None
    await waiting
