"""From the POST of a task to the first request to its model, for each kind of provider.

"First of all" is the first run after a newly started server says that it is ready (/readyz): nothing has run in it yet
but what a server does on its own to get ready. The statement of the goal, asked for beside the first look, is not
counted as a step. "Later ones" is the median of the runs after it, one after the other.
"""

import statistics
import time

from ops.benchmarks import bare
from ops.benchmarks.appliance import run_task
from ops.benchmarks.measures import Figure
from tests.stand_in import StandIn
from tests.system.instance import Instance

LIMIT = 1.5
PROVIDERS = {"compatible": "house-model", "OpenAI": "gpt-5.4-mini", "Anthropic": "claude-sonnet-5"}
"""Each kind of provider with the model that is asked of it."""


def measure_start(count: int = 5) -> list[Figure]:
    """Measure cold and warm starts of each provider, beside starting display and browser by hand."""
    reference = statistics.median(bare.time_start() for _ in range(count))
    figures: list[Figure] = []
    for provider, model in PROVIDERS.items():
        ready, seconds = time_starts(provider, model, count)
        name = f"{provider}: POST to first step request"
        figures += [
            Figure(f"{provider}: start of the server until it is ready", ready, "s"),
            Figure(f"{name}, first of all", seconds[0], "s", LIMIT, reference),
            Figure(f"{name}, later ones", statistics.median(seconds[1:]), "s", LIMIT, reference),
        ]
    return figures


def time_starts(provider: str, model: str, count: int) -> tuple[float, list[float]]:
    """Return the seconds until a server with that provider's key is ready, and those of each run's start after it."""
    seconds: list[float] = []
    with StandIn([{"done": {"text": "ok", "success": True}}]) as stand_in:
        keys = {
            "compatible": {"COMPATIBLE_BASE_URL": stand_in.compatible_url, "COMPATIBLE_MODELS": model},
            "OpenAI": {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": stand_in.openai_url},
            "Anthropic": {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": stand_in.anthropic_url},
        }[provider]
        begun = time.time()
        with Instance({"LOG_LEVEL": "warning", **keys}) as appliance:
            ready = time.time() - begun
            for number in range(count):
                marker = f"RUN-start{number}"
                begun = time.time()
                run_task(appliance, f"Say ok {marker}", model)
                first = next(request for request in stand_in.steps if request.marker == marker)
                seconds.append(first.received_at - begun)
    return ready, seconds
