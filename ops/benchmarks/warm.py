"""From the POST of a task to the first request to its model where a browser is there already.

A "blank browser" waits on the warm slot; a "follow-up" goes on in the parked browser of its session. Both are the
median of several, one after the other, with a pause in which the next blank browser opens.
"""

import statistics
import time
from typing import Any

from ops.benchmarks.measures import Figure
from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually

LIMIT = 0.35
MODEL = "house-model"


def measure_warm(count: int = 7) -> list[Figure]:
    """Measure starts in a blank and in a parked browser, beside those without."""
    name = "POST to first step request"
    return [
        Figure(f"{name}, no browser", statistics.median(_time_starts(count, warm=False)), "s", 1.1),
        Figure(f"{name}, blank browser", statistics.median(_time_starts(count, warm=True)), "s", LIMIT),
        Figure(f"{name}, follow-up", statistics.median(_time_follow_ups(count)), "s", LIMIT),
    ]


def _time_starts(count: int, *, warm: bool) -> list[float]:
    with StandIn([{"done": {"text": "ok", "success": True}}]) as stand_in, _instance(stand_in, warm=warm) as instance:
        seconds: list[float] = []
        for number in range(count):
            if warm:
                seen = number + 1
                eventually(lambda seen=seen: instance.log.count("a blank browser waits") >= seen, "a blank browser", 60)
            seconds.append(_time(instance, stand_in, f"RUN-start{number}"))
        return seconds


def _time_follow_ups(count: int) -> list[float]:
    with StandIn([{"done": {"text": "ok", "success": True}}]) as stand_in, _instance(stand_in, warm=False) as instance:
        session = instance.create(task="Say ok RUN-first", model=MODEL, keepAlive=True)
        instance.wait_for(session)
        return [_time(instance, stand_in, f"RUN-next{number}", sessionId=session["id"]) for number in range(count)]


def _instance(stand_in: StandIn, *, warm: bool) -> Instance:
    return Instance(
        {
            "LOG_LEVEL": "info",
            "WARM_SLOTS": str(int(warm)),
            "COMPATIBLE_BASE_URL": stand_in.compatible_url,
            "COMPATIBLE_MODELS": MODEL,
        }
    )


def _time(instance: Instance, stand_in: StandIn, marker: str, **body: Any) -> float:
    """Return the seconds from the POST to the first step request; returns when the run has ended."""
    stand_in.add(marker, [{"done": {"text": "ok", "success": True}}])
    begun = time.time()
    session = instance.create(task=f"Say ok {marker}", model=MODEL, **body)
    time.sleep(0.5)  # as seldom as a client would ask
    instance.wait_for(session)
    return next(request for request in stand_in.steps if request.marker == marker).received_at - begun
