"""What the model is sent: characters, the part that repeats the step before, pictures; step by step and in all."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rich.console import Console
from rich.table import Table

from ops.benchmarks.appliance import make_appliance, make_page, run_task, serve_page
from ops.benchmarks.measures import Figure
from tests.stand_in import Received, StandIn

RECORDS = 14
MOST_CHARACTERS = 20_000
MOST_NEW = 15.0
"""Per cent of a prompt that need not repeat the step before on the same page."""


@dataclass(frozen=True)
class Sent:
    """One step's request: characters of its prompt, per cent of them that are new, pictures and body in kB."""

    characters: int
    new: float
    pictures: tuple[float, ...]
    body: float


def measure_tokens(clicks: int = 40) -> list[Figure]:
    """Measure the requests of a long run on one dense page and of a run that reads 14 records page by page."""
    dense = _work(make_page(1000), [{"click": {"index": {"text": "Count"}}}] * clicks)
    records = _work(_shop_page, _record_steps())
    _print_steps("dense page, 1,000 nodes", dense)
    _print_steps(f"{RECORDS} records", records)
    on_page = dense[2:]
    return [
        Figure("dense page, prompt, largest", max(sent.characters for sent in dense), "characters", MOST_CHARACTERS),
        Figure("dense page, new in a prompt, largest", max(sent.new for sent in on_page), "%", MOST_NEW),
        Figure("dense page, new in a prompt, median", statistics.median(sent.new for sent in on_page), "%", MOST_NEW),
        Figure("records, prompt, largest", max(sent.characters for sent in records), "characters", MOST_CHARACTERS),
        Figure("records, prompt, median", statistics.median(sent.characters for sent in records), "characters"),
        Figure("records, bodies in all", sum(sent.body for sent in records), "kB"),
        Figure("records, pictures sent", sum(len(sent.pictures) for sent in records), "pictures"),
        Figure(
            "picture, largest",
            max((size for sent in (*dense, *records) for size in sent.pictures), default=0),
            "kB",
            60,
        ),
    ]


def _work(page: Any, steps: Sequence[Any]) -> list[Sent]:
    """Run the steps on a page, between opening it and the answer, and return what was sent for each."""
    with serve_page(page) as url:
        opening = {"navigate": {"url": url}}
        scenario = [opening, *(_at(url, step) for step in steps), {"done": {"text": "ok", "success": True}}]
        with StandIn(scenario) as stand_in, make_appliance(stand_in) as appliance:
            session = run_task(appliance, "Work through the pages RUN-tokens")
            requests = stand_in.steps
    if session["output"] != "ok" or len(requests) != len(scenario):
        raise RuntimeError(f"The run did not work through its steps: {session['lastStepSummary']}")
    prompts = ["".join(request.texts) for request in requests]
    new = [100.0, *(_new_share(before, now) for before, now in pairwise(prompts))]
    return [_sent(request, len(prompt), share) for request, prompt, share in zip(requests, prompts, new, strict=True)]


def _sent(request: Received, characters: int, new: float) -> Sent:
    return Sent(characters, new, tuple(len(image) / 1000 for image in request.images), request.size / 1000)


def _new_share(before: str, now: str) -> float:
    """Return the per cent of a prompt behind the first byte that is not that of the prompt before."""
    same = next((at for at, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), None)
    return 100 - 100 * (min(len(before), len(now)) if same is None else same) / len(now)


def _record_steps() -> list[Any]:
    """Open each record and note it down."""
    return [
        step
        for number in range(1, RECORDS + 1)
        for step in (
            {"navigate": {"url": f"/{number}"}},
            {"write_file": {"file_name": "records.md", "content": f"Record {number}\n", "append": True}},
        )
    ]


def _at(url: str, step: Any) -> Any:
    """Return the step with its address made whole."""
    address = step.get("navigate", {}).get("url", "")
    return {"navigate": {"url": url.rstrip("/") + address}} if address else step


def _shop_page(path: str) -> bytes:
    """Return the list of records, or the page of one."""
    number = path.strip("/")
    if number.isdecimal():
        facts = "".join(f"<tr><th>Property {fact}</th><td>Value {number}-{fact}</td></tr>" for fact in range(20))
        body = f"<h1>Record {number}</h1><p>Price: {number}.90 EUR</p><table>{facts}</table><a href=/>Back</a>"
    else:
        body = "".join(f"<p><a href=/{each}>Record {each}</a> in stock</p>" for each in range(1, RECORDS + 1))
    return f"<!doctype html><title>Records {number}</title>{body}".encode()


def _print_steps(name: str, sent: Sequence[Sent]) -> None:
    table = Table("step", title=name)
    for column in ("characters", "as before", "pictures kB", "body kB"):
        table.add_column(column, justify="right")
    for number, one in enumerate(sent, 1):
        pictures = " + ".join(f"{size:.0f}" for size in one.pictures)
        table.add_row(str(number), f"{one.characters:,}", f"{100 - one.new:.0f} %", pictures, f"{one.body:.0f}")
    Console().print(table)
