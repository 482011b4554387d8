"""The model as the agent and its actions ask it: each call is charged, none outlasts its time or the browser."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from appliance.agent.budget import Budget
from appliance.agent.estimate import believable, completed, estimate
from appliance.agent.fund import Funding
from appliance.errors import BrowserLost, RunFailed
from appliance.models.base import Model, ModelAround, ModelRequest, OnText, Reply
from appliance.models.base import Purpose as Asked
from appliance.pause import Pause
from appliance.sensitive import SensitiveData
from appliance.words import FailureKind, Purpose

LONG_REPLY, LONG_REPLY_SECONDS = 64_000, 400.0
"""Tokens and seconds of the one retry that a reply gets which was cut off for its length."""

_PAID_FOR = {
    Asked.STEP: Purpose.STEP,
    Asked.EXTRACT: Purpose.ACTION,
    Asked.GOAL: Purpose.GOAL,
    Asked.COMPACTION: Purpose.COMPACTION,
    Asked.REVIEW: Purpose.REVIEW,
}

T = TypeVar("T")


class MeteredModel(ModelAround):
    """A model whose calls are charged to a budget; `browser_lost` is set when there is nothing left to act on.

    A call that is given up (cancelled, out of time, its browser gone), whose answer breaks off, or whose reply does not
    tell what it took is charged by estimate. No request leaves with the value of a secret in it, whatever it is for,
    and none while the run is paused; one that is under way then is waited for.
    """

    def __init__(
        self,
        model: Model,
        budget: Budget,
        browser_lost: asyncio.Event,
        sensitive: SensitiveData | None = None,
        pause: Pause | None = None,
        funding: Funding | None = None,
    ) -> None:
        super().__init__(model)
        self._budget = budget
        self._browser_lost = browser_lost
        self._sensitive = sensitive or SensitiveData()
        self._pause = pause or Pause()
        self._funding = funding or Funding(None, budget)
        self._under_way = 0

    @property
    def standing(self) -> Decimal | None:
        """The US dollars spent by a run that stands still, with no call under way; None while it goes on."""
        if self._under_way or not self._pause.is_paused:
            return None
        return self._budget.known_cost

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Return the reply.

        Raises MoneySpent before a call that is no longer covered, RunFailed when no reply comes in time, and
        BrowserLost as soon as the browser goes away meanwhile.
        """
        await self._may_begin()
        self._under_way += 1
        try:
            return await self._ask_now(self._cleaned(request), on_text)
        finally:
            self._under_way -= 1

    async def _may_begin(self) -> None:
        """Return when the run goes on and there is money for its step."""
        await self._pause.wait()
        await self._funding.before_call()
        while self._pause.is_paused:
            await self._pause.wait()
            await self._funding.before_call()
        self._budget.check_money()

    async def _ask_now(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        on_text = on_text or (_discard if is_long(request) else None)
        started = time.monotonic()
        try:
            async with asyncio.timeout(request.timeout):
                reply = await self._unless_lost(self._model.ask(request, on_text))
        except TimeoutError as error:
            self._charge_unanswered(request)
            text = f"The model did not answer within {request.timeout:g} seconds."
            raise RunFailed(text, failure=FailureKind.PROVIDER_TIMEOUT) from error
        except (asyncio.CancelledError, BrowserLost):
            self._charge_unanswered(request)
            raise
        except RunFailed as fault:
            if fault.failure is FailureKind.PROVIDER_TIMEOUT or _broke_off(fault):
                self._charge_unanswered(request)
            raise
        return self._charge(request, reply, time.monotonic() - started)

    def _charge(self, request: ModelRequest, reply: Reply, seconds: float) -> Reply:
        """Charge the reply and return it with the tokens that were charged."""
        told = believable(reply.tokens)
        tokens = told if reply.is_of_scene else completed(told, request, reply.text)
        if tokens != told and self._budget.is_free(tokens):
            tokens = told
        self._budget.charge(tokens, seconds, _PAID_FOR[request.purpose], is_estimated=tokens != reply.tokens)
        return replace(reply, tokens=tokens)

    def _cleaned(self, request: ModelRequest) -> ModelRequest:
        if not self._sensitive:
            return request
        clean = self._sensitive.redact_all
        return replace(
            request, system=clean(request.system), messages=clean(request.messages), scene=clean(request.scene)
        )

    def _charge_unanswered(self, request: ModelRequest) -> None:
        tokens = estimate(request, self._budget.usual_output)
        self._budget.charge_unanswered(tokens, _PAID_FOR[request.purpose])

    async def _unless_lost(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        lost = asyncio.create_task(self._browser_lost.wait())
        try:
            await asyncio.wait({task, lost}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise BrowserLost("The browser went away while the model was being asked.")
        finally:
            task.cancel()
            lost.cancel()
            await asyncio.gather(task, lost, return_exceptions=True)


def lengthened(request: ModelRequest) -> ModelRequest:
    """Return the request with room and time for a long reply."""
    return replace(request, max_output_tokens=LONG_REPLY, timeout=LONG_REPLY_SECONDS)


def is_long(request: ModelRequest) -> bool:
    """Whether the request gives room for a long reply."""
    return request.max_output_tokens >= LONG_REPLY


def _broke_off(fault: RunFailed) -> bool:
    """Whether an answer had begun when the connection was lost; one that could not be made is not asked for again."""
    return fault.failure is FailureKind.PROVIDER_CONNECTION_ERROR and fault.is_transient


async def _discard(text: str) -> None:
    """Take the pieces of a long reply, which is streamed only because providers want it so."""
