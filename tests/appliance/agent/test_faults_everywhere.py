"""Every fault a provider can have, at every place of a run: it is got over, or the run ends typed with what it has."""

from typing import Any

import pytest

from appliance.agent.clocks import Clocks
from appliance.agent.outcome import Outcome
from appliance.words import Ending, FailureKind
from tests.appliance.agent.conftest import Finish, Work
from tests.site import Site

ROWS = {"rows": [1, 2, 3]}
KEEP = {"checkpoint": {"file_name": "rows.json", "value": ROWS, "partial": True}}
WRITE = {"write_file": {"file_name": "notes.md", "content": "a"}}
READ = {"extract": {"query": "the title"}}
DONE = {"done": {"text": "It is done."}}
FOR_EVER = 20
"""Times that a fault lasts: more than anybody asks again."""

FAULTS: dict[str, tuple[Any, FailureKind]] = {
    "rate limit": ({"__http__": 429}, FailureKind.PROVIDER_RATE_LIMIT),
    "server": ({"__http__": 500}, FailureKind.PROVIDER_SERVER_ERROR),
    "drop": ({"__drop__": True}, FailureKind.PROVIDER_CONNECTION_ERROR),
    "hang": ({"__hang__": 0.1}, FailureKind.PROVIDER_CONNECTION_ERROR),
    "stream error": ({"__stream_error__": "overloaded_error"}, FailureKind.PROVIDER_SERVER_ERROR),
    "truncated": ({"reply": WRITE, "__truncated__": 20}, FailureKind.INVALID_OUTPUT),
    "refusal": ({"reply": "I will not do that.", "__refusal__": True}, FailureKind.INVALID_OUTPUT),
    "nonsense": ("turtles all the way", FailureKind.INVALID_OUTPUT),
}
NO_FAULT_OF_TEXTS = ("truncated", "refusal", "nonsense")
"""Faults of an answer's form, which an answer in free words does not have: it is taken as it is."""
PLACES = ("goal", "first step", "middle step", "extract", "delivery turn")


def scenario(place: str, faults: list[Any]) -> dict[str, Any]:
    steps = [KEEP, WRITE, READ, WRITE, DONE]
    if place in ("first step", "middle step"):
        at = 0 if place == "first step" else 2
        return {"steps": [*steps[:at], *faults, *steps[at:]]}
    if place == "delivery turn":
        return {"steps": [KEEP, WRITE, *faults, DONE]}
    if place == "goal":
        return {"steps": steps, "goals": [*faults, "All rows."]}
    return {"steps": steps, "extracts": [*faults, "A title."]}


async def work_through(finish: Finish, site: Site, place: str, faults: list[Any]) -> tuple[Outcome, Work]:
    task = f"Collect the rows of {site.url('/act_second.html')}."
    limit: dict[str, Any] = {"max_steps": 3} if place == "delivery turn" else {}
    return await finish(scenario(place, faults), task=task, clocks=Clocks(wait=0.01), **limit)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", PLACES)
async def test_a_fault_that_passes_is_got_over(finish: Finish, site: Site, place: str, fault: str):
    outcome, work = await work_through(finish, site, place, [FAULTS[fault][0]])
    assert (outcome.ending, outcome.output) == (Ending.DONE, "It is done.")
    assert outcome.is_successful
    assert work.recorded.closed is not None
    assert (work.folder / "scratchpad" / "rows.json").exists()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", PLACES)
async def test_a_fault_that_stays_ends_the_run_typed_and_nothing_is_lost(
    finish: Finish, site: Site, place: str, fault: str
):
    outcome, work = await work_through(finish, site, place, [FAULTS[fault][0]] * FOR_EVER)
    closed = work.recorded.closed
    assert closed is not None
    assert (closed.ending, closed.failure, closed.output) == (outcome.ending, outcome.failure, outcome.output)
    assert all(step.closed is not None for step in work.recorded.steps)
    if place == "goal" or (place == "extract" and fault in NO_FAULT_OF_TEXTS):
        assert (outcome.ending, outcome.output) == (Ending.DONE, "It is done.")
        return
    assert outcome.summary
    assert not outcome.is_successful
    assert outcome.output == (None if place == "first step" else ROWS)
    if place == "delivery turn" and fault in NO_FAULT_OF_TEXTS:
        assert (outcome.ending, outcome.failure) == (Ending.STEPS_SPENT, FailureKind.AGENT_FAILURE)
    else:
        assert (outcome.ending, outcome.failure) == (Ending.FAILED, FAULTS[fault][1])
