"""The measurements: each returns figures with the reference they are compared with, taken in the same run."""

import statistics
import time
from dataclasses import asdict, dataclass
from itertools import pairwise

from appliance.browser.waiting import GRACE_MS
from ops.benchmarks import bare
from ops.benchmarks.appliance import make_appliance, make_page, run_task, serve_page
from tests.stand_in import StandIn


@dataclass(frozen=True)
class Figure:
    """One measured value; `reference` is the bare script's, `limit` what is to be reached, all in `unit`."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    reference: float | None = None

    def to_json(self) -> dict[str, str | float | None]:
        """Return the figure with its ratio to the reference."""
        ratio = self.value / self.reference if self.reference else None
        return {**asdict(self), "ratio": ratio}


def measure_steps(count: int = 20, nodes: int = 1000) -> list[Figure]:
    """Measure what a click step costs from the model's answer to the next request, beside click and picture alone."""
    with serve_page(make_page(nodes)) as url:
        click = {"click": {"index": {"text": "Count"}}}
        scenario = [{"navigate": {"url": url}}, *([click] * count), {"done": {"text": "ok", "success": True}}]
        with StandIn(scenario) as stand_in, make_appliance(stand_in) as appliance:
            session = run_task(appliance, "Count RUN-steps")
            requests = [request for request in stand_in.requests if request.kind == "step"]
        if session["output"] != "ok" or len(requests) != count + 2:
            raise RuntimeError(f"The run did not do its {count} clicks: {session['lastStepSummary']}")
        gaps = [
            later.received_at - earlier.answered_at for earlier, later in pairwise(requests[1:]) if earlier.answered_at
        ]
        sizes = [len(request.text) for request in requests[2:]]
        images = [len(image) for request in requests for image in request.images]
        reference = bare.time_click_steps(url, count)
    return [
        Figure("click step, answer to next request", statistics.median(gaps), "s", None, reference),
        Figure("click step, beyond waiting for quiet", statistics.median(gaps) - GRACE_MS / 1000, "s", 0.15),
        Figure("click step, slowest", max(gaps), "s"),
        Figure("prompt text of a step", statistics.median(sizes), "characters", 20_000),
        Figure("picture sent", max(images, default=0) / 1000, "kB", 60),
    ]


def measure_start(count: int = 5) -> list[Figure]:
    """Measure from the POST to the first step request, cold and again, beside starting display and browser by hand."""
    seconds: list[float] = []
    with StandIn([{"done": {"text": "ok", "success": True}}]) as stand_in, make_appliance(stand_in) as appliance:
        for number in range(count):
            begun = time.time()
            run_task(appliance, f"Say ok RUN-start{number}")
            first = next(request for request in stand_in.requests if request.marker == f"RUN-start{number}")
            seconds.append(first.received_at - begun)
    reference = statistics.median(bare.time_start() for _ in range(count))
    return [
        Figure("POST to first step request, first of all", seconds[0], "s", 1.5, reference),
        Figure("POST to first step request, later ones", statistics.median(seconds[1:]), "s", 1.5, reference),
    ]


def measure_idle(settle: float = 5.0) -> list[Figure]:
    """Measure the memory and the processor time of a server that nobody uses."""
    with StandIn() as stand_in, make_appliance(stand_in) as appliance:
        server, supervisor = appliance.server, appliance.server.parent()
        time.sleep(2)  # What it still does after its start is not idling.
        before = sum(server.cpu_times()[:2])
        time.sleep(settle)
        used = sum(server.cpu_times()[:2]) - before
        memory = server.memory_info().rss
        supervisor_memory = supervisor.memory_info().rss if supervisor else 0
    return [
        Figure("idle server, resident memory", memory / 1e6, "MB", 110),
        Figure("supervisord, resident memory", supervisor_memory / 1e6, "MB"),
        Figure("idle server, share of a core", used / settle * 100, "%", 1),
    ]
