"""A whole job: a listing, its 14 detail pages, a validated answer; with a model that answers at once and with none.

Each round does it by the bare script first and then by the product, in a session of its own on a cold slot. Processor
seconds are those of the server and of everything it or its supervisor started, until the browser is gone.
"""

import contextlib
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import psutil

from ops.benchmarks import bare
from ops.benchmarks.appliance import MODEL, make_appliance, serve_page
from ops.benchmarks.measures import Figure
from ops.benchmarks.shop import COUNT, SCHEMA, has_right_answer, make_page
from tests.stand_in import Received, StandIn
from tests.system.instance import Instance, eventually

FILE = "rows_draft.json"
POLL = 0.1
"""Seconds between two looks of a client at its session."""

GAPS = {"navigate": 0.2, "find_links": 0.3, "read_pages": 1.6, "store-only step": 0.02}
"""What is measured from one answer of the model to the next request, with the limit of each in seconds."""


@dataclass
class Round:
    """One job done: seconds since the POST, of each gap, and of processor time."""

    total: float
    running: float
    cpu: float
    first_step: float = 0.0
    gaps: list[float] = field(default_factory=list[float])
    review: float = 0.0
    requests: list[Received] = field(default_factory=list[Received])


def measure_extract(rounds: int = 5) -> list[Figure]:
    """Measure the job with both kinds of model beside the bare script; raises RuntimeError for a wrong answer."""
    with serve_page(make_page) as url, StandIn(scenario(url)) as stand_in, make_appliance(stand_in) as appliance:
        by_hand: list[bare.Extraction] = []
        asked: list[Round] = []
        keyless: list[Round] = []
        for number in range(rounds):
            by_hand.append(bare.time_extract(url, COUNT))
            marker = f"RUN-extract{number}"
            begun = time.time()
            asked.append(_read_requests(_do_job(appliance, url, MODEL, marker), stand_in, marker, begun))
            keyless.append(_do_job(appliance, url, "autopilot", marker))
    return [*_figures(asked, by_hand), *_totals("autopilot: ", keyless, by_hand)]


def scenario(url: str) -> list[Any]:
    """Return what the scripted model answers to the job at that address."""
    return [
        {"navigate": {"url": url}},
        {"find_links": {"href_contains": "/lamp/"}},
        {"read_pages": {}},
        {"add_items_from_file": {"name": FILE}},
        {"done": {"text": f"All {COUNT} lamps.", "success": True}},
    ]


def _do_job(appliance: Instance, url: str, model: str, marker: str) -> Round:
    """Submit the task, wait for its end as a client does, and look at what was delivered."""
    used = _processor_seconds(appliance)
    begun = time.time()
    task = f"Read every lamp at {url} {marker}"
    session = appliance.create(task=task, model=model, outputSchema=SCHEMA)
    running = 0.0
    while session["status"] in ("created", "running"):
        if session["status"] == "running":
            running = running or time.time() - begun
        if time.time() - begun > 120:
            raise RuntimeError("The job did not end within 120 s.")
        time.sleep(POLL if running else 0.02)
        session = appliance.find(session)
    total = time.time() - begun
    if not session["isTaskSuccessful"] or not has_right_answer(session["output"], url):
        raise RuntimeError(f"The answer is wrong: {session['lastStepSummary']} {session['output']}")
    eventually(lambda: not _browsers(appliance), "the browser is gone", 30)
    return Round(total, running, _processor_seconds(appliance) - used)


def _read_requests(done: Round, stand_in: StandIn, marker: str, begun: float) -> Round:
    """Fill in what the requests of the run that was submitted then tell."""
    done.requests = [request for request in stand_in.requests if request.marker == marker]
    steps = [request for request in done.requests if request.kind == "step"]
    review = next(request for request in done.requests if request.kind == "review")
    answered = [request.answered_at or request.received_at for request in steps]
    done.first_step = steps[0].received_at - begun
    done.gaps = [later.received_at - before for before, later in zip(answered, steps[1:], strict=False)]
    done.review = review.received_at - answered[-1]
    return done


def _processor_seconds(appliance: Instance) -> float:
    """Return what the instance's processes have used so far, those that have ended included."""
    assert appliance.process is not None
    used = 0.0
    root = psutil.Process(appliance.process.pid)
    for process in (root, *root.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            used += sum(process.cpu_times()[:4])
    return used


def _browsers(appliance: Instance) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in appliance.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] if "chrom" in process.name() else []
    return found


def _figures(rounds: list[Round], by_hand: list[bare.Extraction]) -> list[Figure]:
    details = statistics.median(each.details for each in by_hand)
    listing = statistics.median(each.listing for each in by_hand)
    references = (listing, None, details, None)
    measured = zip(*(each.gaps for each in rounds), strict=True)
    gaps = [
        Figure(f"gap after {name}", _median(seconds), "s", GAPS[name], reference)
        for name, seconds, reference in zip(GAPS, measured, references, strict=True)
    ]
    bodies = [sum(request.size for request in each.requests) for each in rounds]
    images = [sum(len(request.images) for request in each.requests) for each in rounds]
    return [
        *_totals("", rounds, by_hand),
        Figure("POST to running", _median(each.running for each in rounds), "s", 0.6),
        Figure("POST to first step request", _median(each.first_step for each in rounds), "s", 1.1),
        *gaps,
        Figure("gap from done to review", _median(each.review for each in rounds), "s"),
        Figure("request bodies", _median(bodies) / 1e6, "MB", 0.35),
        Figure("images", max(images), "in a run", 3),
    ]


def _totals(prefix: str, rounds: list[Round], by_hand: list[bare.Extraction]) -> list[Figure]:
    total, bare_total = _median(each.total for each in rounds), _median(each.total for each in by_hand)
    cpu, bare_cpu = _median(each.cpu for each in rounds), _median(each.cpu for each in by_hand)
    return [
        Figure(f"{prefix}total", total, "s", None, bare_total),
        Figure(f"{prefix}total against the bare script", total / bare_total, "times", 1.15),
        Figure(f"{prefix}processor seconds, server and children", cpu, "s", 3.5, bare_cpu),
    ]


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)
