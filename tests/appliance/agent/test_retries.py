"""Asking again where it may help: once per run after a passing fault, once per request without an answer."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.clocks import Clocks
from appliance.agent.metering import MeteredModel
from appliance.agent.retries import RetryingModel
from appliance.errors import BrowserLost, RunFailed
from appliance.events import TokenCount
from appliance.models.base import ModelRequest, OnText, Purpose, Reply
from appliance.words import Effort, FailureKind

REQUEST = ModelRequest(Purpose.STEP, "Hello", ())


def fault(kind: FailureKind = FailureKind.PROVIDER_SERVER_ERROR, **values: Any) -> RunFailed:
    return RunFailed("It failed.", failure=kind, **{"is_transient": True, "retry_after": 0.0, **values})


class Provider:
    """A model that fails as it is told to, then answers."""

    name = "provider"
    sees_images = False
    context_window: int | None = None
    compacts_itself = False

    def __init__(self, *faults: RunFailed) -> None:
        self.faults = list(faults)
        self.asked = 0

    def slowness(self, effort: Effort | None) -> float:
        return 1.0

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        self.asked += 1
        if self.faults:
            raise self.faults.pop(0)
        return Reply("Hi.", TokenCount(input=1), self.name)

    async def close(self) -> None:
        pass


class Asked:
    """A model under test with what it told the feed."""

    def __init__(self, *faults: RunFailed, seconds_left: float = 100.0, lost: asyncio.Event | None = None) -> None:
        self.provider = Provider(*faults)
        self.told: list[str] = []
        self.has_told = asyncio.Event()
        gone = lost or asyncio.Event()
        budget = Budget(Assignment("Do it"), lambda tokens: Decimal(0))
        metered = MeteredModel(self.provider, budget, gone)
        self.model = RetryingModel(metered, Clocks(wait=0.0), lambda: seconds_left, gone, self.tell)

    async def tell(self, code: str, text: str) -> None:
        self.told.append(code)
        self.has_told.set()


async def test_a_passing_fault_is_waited_out_once_in_a_run():
    asked = Asked(fault())
    assert (await asked.model.ask(REQUEST)).text == "Hi."
    assert asked.told == ["provider_retry"]
    asked.provider.faults = [fault()]
    with pytest.raises(RunFailed):
        await asked.model.ask(REQUEST)
    assert asked.provider.asked == 3


async def test_a_fault_that_will_not_pass_is_raised_at_once():
    asked = Asked(fault(FailureKind.PROVIDER_ERROR, is_transient=False, status_code=400))
    with pytest.raises(RunFailed) as raised:
        await asked.model.ask(REQUEST)
    assert (raised.value.status_code, asked.provider.asked, asked.told) == (400, 1, [])


@pytest.mark.parametrize(("asked_for", "is_waited"), [(0.01, True), (60.5, False), (None, True)])
async def test_the_provider_may_ask_for_a_minute_at_most(asked_for: float | None, *, is_waited: bool):
    asked = Asked(fault(retry_after=asked_for))
    if is_waited:
        await asked.model.ask(REQUEST)
    else:
        with pytest.raises(RunFailed):
            await asked.model.ask(REQUEST)
    assert asked.provider.asked == 1 + is_waited


async def test_no_wait_reaches_into_the_turn_for_the_answer():
    asked = Asked(fault(retry_after=20.0), seconds_left=15.0)
    with pytest.raises(RunFailed):
        await asked.model.ask(REQUEST)
    assert asked.provider.asked == 1


async def test_a_request_without_an_answer_is_asked_again_once_and_costs_no_retry():
    silent = fault(FailureKind.PROVIDER_TIMEOUT)
    asked = Asked(silent, fault())
    assert (await asked.model.ask(REQUEST)).text == "Hi."
    assert asked.told == ["asked_again", "provider_retry"]


async def test_a_second_silence_is_raised():
    asked = Asked(*[fault(FailureKind.PROVIDER_TIMEOUT, is_transient=False)] * 2)
    with pytest.raises(RunFailed) as raised:
        await asked.model.ask(REQUEST)
    assert raised.value.failure is FailureKind.PROVIDER_TIMEOUT
    assert asked.provider.asked == 2


async def test_a_silence_is_not_asked_about_again_when_no_time_is_left():
    asked = Asked(fault(FailureKind.PROVIDER_TIMEOUT, is_transient=False), seconds_left=0.0)
    with pytest.raises(RunFailed):
        await asked.model.ask(REQUEST)
    assert asked.provider.asked == 1


async def test_a_browser_that_goes_away_ends_the_wait():
    lost = asyncio.Event()
    asked = Asked(fault(retry_after=50.0), lost=lost)
    asking = asyncio.create_task(asked.model.ask(REQUEST))
    async with asyncio.timeout(10):
        await asked.has_told.wait()
        lost.set()
        with pytest.raises(BrowserLost):
            await asking
