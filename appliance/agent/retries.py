"""Asks a model again where that may help: once per run after a passing fault, once per request without an answer."""

import asyncio
from collections.abc import Awaitable, Callable

from appliance.agent.clocks import Clocks
from appliance.agent.metering import MeteredModel
from appliance.errors import BrowserLost, RunFailed
from appliance.models.base import ModelAround, ModelRequest, OnText, Reply
from appliance.words import FailureKind

Tell = Callable[[str, str], Awaitable[None]]
"""Takes a stable word and a sentence for the feed."""


class RetryingModel(ModelAround):
    """A model that survives one passing fault of its provider.

    `seconds_left` says how long the run may go on before something else is due: no wait reaches into that. `lost` ends
    a wait early, since without a browser there is nothing to ask for.
    """

    def __init__(
        self, model: MeteredModel, clocks: Clocks, seconds_left: Callable[[], float], lost: asyncio.Event, tell: Tell
    ) -> None:
        super().__init__(model)
        self._clocks = clocks
        self._seconds_left = seconds_left
        self._lost = lost
        self._tell = tell
        self._has_retried = False

    def longest(self, request: ModelRequest) -> float:
        """Return the seconds within which `ask` surely answers or raises."""
        return 3 * request.timeout + self._clocks.longest_wait

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Return the reply; raises what the metered model raises, when asking again did not help or is not due."""
        was_unanswered = False
        while True:
            try:
                return await self._model.ask(request, on_text)
            except RunFailed as fault:
                if fault.failure is FailureKind.PROVIDER_TIMEOUT and not was_unanswered and self._seconds_left() > 0:
                    was_unanswered = True
                    await self._tell("asked_again", f"{fault.message} It is asked once more.")
                else:
                    await self._wait_out(fault)

    async def _wait_out(self, fault: RunFailed) -> None:
        """Wait as long as the provider asked for; raises the fault when it is not to be waited out."""
        seconds = self._clocks.wait if fault.retry_after is None else fault.retry_after
        if not fault.is_transient or self._has_retried:
            raise fault
        if seconds > self._clocks.longest_wait or seconds >= self._seconds_left():
            raise fault
        self._has_retried = True
        await self._tell("provider_retry", f"{fault.message} It is asked once more in {seconds:.0f} s.")
        try:
            async with asyncio.timeout(seconds):
                await self._lost.wait()
        except TimeoutError:
            return
        raise BrowserLost("The browser went away while the model's provider was waited for.")
