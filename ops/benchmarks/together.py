"""Jobs of 14 records submitted at the same moment: how long until the last of two and of four has its answer.

Each has a cold slot of its own. The reference is one job by the bare script, alone.
"""

import statistics
import time
from typing import Any

from ops.benchmarks import bare
from ops.benchmarks.appliance import MODEL, serve_page
from ops.benchmarks.extract import scenario
from ops.benchmarks.measures import Figure
from ops.benchmarks.shop import COUNT, SCHEMA, has_right_answer, make_page
from tests.stand_in import StandIn
from tests.system.instance import Instance

LIMITS = {2: 6.0, 4: 11.0}
POLL = 0.1
_LONGEST = 180.0


def measure_together(rounds: int = 3) -> list[Figure]:
    """Measure both, each the median of some rounds; raises RuntimeError for a wrong answer."""
    by_hand: list[float] = []
    walls: dict[int, list[float]] = {count: [] for count in LIMITS}
    with serve_page(make_page) as url, StandIn(scenario(url)) as stand_in, _appliance(stand_in) as appliance:
        for number in range(rounds):
            by_hand.append(bare.time_extract(url, COUNT).total)
            for count in LIMITS:
                walls[count].append(_do_jobs(appliance, url, [f"RUN-r{number}c{count}j{job}" for job in range(count)]))
    reference = statistics.median(by_hand)
    return [
        Figure(f"{count} jobs of {COUNT} records at once", statistics.median(walls[count]), "s", limit, reference)
        for count, limit in LIMITS.items()
    ]


def _appliance(stand_in: StandIn) -> Instance:
    settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": stand_in.openai_url, "LOG_LEVEL": "warning"}
    return Instance(settings, slots=max(LIMITS))


def _do_jobs(appliance: Instance, url: str, markers: list[str]) -> float:
    """Return the seconds from the first POST to the last end."""
    begun = time.monotonic()
    tasks = [f"Read every lamp at {url} {marker}" for marker in markers]
    waiting = [appliance.create(task=task, model=MODEL, outputSchema=SCHEMA) for task in tasks]
    ended: list[dict[str, Any]] = []
    while waiting:
        if time.monotonic() - begun > _LONGEST:
            raise RuntimeError(f"The jobs did not end within {_LONGEST:g} s.")
        time.sleep(POLL)
        looked = [appliance.find(session) for session in waiting]
        waiting = [session for session in looked if session["status"] in ("created", "running")]
        ended += [session for session in looked if session not in waiting]
    seconds = time.monotonic() - begun
    for session in ended:
        if not session["isTaskSuccessful"] or not has_right_answer(session["output"], url):
            raise RuntimeError(f"The answer is wrong: {session['lastStepSummary']} {session['output']}")
    return seconds
