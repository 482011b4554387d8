"""How long the parts of a run may take: each clock is longer than those inside it and cuts off none of them.

A step that is over begins nothing new; what has begun runs to its own deadline. Only the start of the delivery turn,
or the end of the run, stops everything. All of them stand still while the run is paused.
"""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from appliance.models.failures import LONGEST_PATIENCE
from appliance.models.remote import USUAL_CALL
from appliance.pause import Pause


@dataclass(frozen=True)
class Clocks:
    """Seconds: of one call to the model, of a step, and of the longest wait that a provider may ask for."""

    model_call: float = USUAL_CALL
    step: float = 520.0
    longest_wait: float = LONGEST_PATIENCE
    wait: float = 1.0
    """The wait before another try where the provider asked for none."""


class StepClock:
    """The time of one step, entered as a context; raises TimeoutError in it when the time is up.

    `seconds` is the step's own time, `most` what is left until everything must stop; `pause` is that of the run.
    """

    def __init__(self, seconds: float, most: float, pause: Pause | None = None) -> None:
        self._pause = pause or Pause()
        now = self._pause.time()
        self._over = now + seconds
        self._end = now + most
        self._clock = self._pause.timeout(min(seconds, most))

    async def __aenter__(self) -> Self:
        await self._clock.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._clock.__aexit__(kind, error, trace)

    @property
    def is_over(self) -> bool:
        """Whether nothing new may begin."""
        return self._clock.expired() or self._pause.time() >= min(self._over, self._end)

    @property
    def seconds_left(self) -> float:
        """Seconds until everything must stop."""
        return self._end - self._pause.time()

    def begin(self, seconds: float) -> None:
        """Give what begins now its own time, also beyond the step's; raises TimeoutError when the step is over."""
        if self.is_over:
            raise TimeoutError
        wanted = min(self._end, self._pause.time() + seconds + _MARGIN)
        if (when := self._clock.when) is not None and wanted > when:
            self._clock.reschedule(wanted)


_MARGIN = 1.0
"""Seconds that an inner deadline has to be told before the outer one strikes."""
