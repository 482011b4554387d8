"""The measurements: each returns figures with the reference they are compared with, taken in the same run."""

import statistics
import time
from dataclasses import asdict, dataclass
from itertools import pairwise

from appliance.browser.waiting import GRACE_MS
from ops.benchmarks import bare
from ops.benchmarks.appliance import make_appliance, make_page, run_task, serve_page
from tests.stand_in import StandIn
from tests.system.instance import Instance


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


def measure_steps(count: int = 90, nodes: int = 1000) -> list[Figure]:
    """Measure what a click step costs from the model's answer to the next request, beside click and picture alone.

    Also whether late steps of a run cost more than early ones.
    """
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
        reference = bare.time_click_steps(url, min(count, 20))
    return [
        Figure("click step, answer to next request", statistics.median(gaps), "s", None, reference),
        Figure("click step, beyond waiting for quiet", statistics.median(gaps) - GRACE_MS / 1000, "s", 0.15),
        Figure("click step, slowest", max(gaps), "s"),
        Figure("click step, last ten against first ten", _ratio_of_ends(gaps), "times", 1.1),
        Figure("prompt text of a step", statistics.median(sizes), "characters", 20_000),
        Figure("picture sent", max(images, default=0) / 1000, "kB", 60),
    ]


def _ratio_of_ends(gaps: list[float]) -> float:
    """Return how many times the first ten gaps the last ten are."""
    return statistics.median(gaps[-10:]) / statistics.median(gaps[:10])


def measure_idle(settle: float = 12.0) -> list[Figure]:
    """Measure the memory and the processor time of a server that nobody uses, without keys and with Anthropic's."""
    memory, supervisor, share = time_idling({}, settle)
    with_key, _, share_with_key = time_idling({"ANTHROPIC_API_KEY": "none"}, settle)
    return [
        Figure("idle server, resident memory", memory, "MB", 110),
        Figure("idle server with Anthropic's key, resident memory", with_key, "MB"),
        Figure("supervisord, resident memory", supervisor, "MB"),
        Figure("idle server, share of a core", share, "%", 1),
        Figure("idle server with Anthropic's key, share of a core", share_with_key, "%", 1),
    ]


def time_idling(keys: dict[str, str], settle: float) -> tuple[float, float, float]:
    """Return the memory of server and supervisord in MB, and the server's share of a core in per cent."""
    with Instance({"LOG_LEVEL": "warning", **keys}) as appliance:
        server, supervisor = appliance.server, appliance.server.parent()
        time.sleep(2)  # What it still does after its start is not idling.
        before = sum(server.cpu_times()[:2])
        time.sleep(settle)
        used = sum(server.cpu_times()[:2]) - before
        memory = server.memory_info().rss
        supervisor_memory = supervisor.memory_info().rss if supervisor else 0
    return memory / 1e6, supervisor_memory / 1e6, used / settle * 100
