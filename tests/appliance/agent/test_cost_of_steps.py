"""What a step costs our own program does not depend on how many steps were before it."""

import statistics
import sys
from itertools import pairwise
from types import FrameType

from appliance.events import FeedEvent, StepPlanned
from tests.appliance.agent.conftest import Prepare, Work

DONE = {"done": {"text": "It is done."}}
STEPS = 110


class CallCounter:
    """Counts the calls of functions on this thread between one plan and the next."""

    def __init__(self, work: Work) -> None:
        self._count = 0
        self._marks: list[int] = []
        self._keep = work.keep
        work.keep = self.keep

    async def keep(self, event: FeedEvent) -> None:
        if isinstance(event, StepPlanned):
            self._marks.append(self._count)
        await self._keep(event)

    def profile(self, _frame: FrameType, event: str, _argument: object) -> None:
        self._count += event in ("call", "c_call")

    def per_step(self) -> list[int]:
        return [later - earlier for earlier, later in pairwise(self._marks)]


async def test_the_hundredth_step_costs_what_the_tenth_did(prepare: Prepare):
    notes = [{"write_file": {"file_name": "log.md", "content": str(number)}} for number in range(STEPS)]
    work = prepare([*notes, DONE], max_steps=STEPS + 5)
    counter = CallCounter(work)
    sys.setprofile(counter.profile)
    try:
        outcome = await work.agent.run()
    finally:
        sys.setprofile(None)
    assert outcome.is_successful
    costs = counter.per_step()
    early, late = statistics.median(costs[5:25]), statistics.median(costs[85:105])
    assert late <= 1.2 * early, (early, late)
