"""Forty steps over real pages with a model that reads little: what was seen early survives compaction into the answer.

The scripted model notes what it is shown, sums up what it is given to sum up, and answers with what its last request
holds; so an answer that is right has come all the way through history, summaries and archive.
"""

import pytest

from appliance.events import GoalStated
from appliance.words import Ending, ReceiptStatus
from tests.appliance.agent.conftest import Finish
from tests.site import Site
from tests.site.generated import code_of

ITEMS = 13
CODE = r"Code of item \d+: K\d{4}"
WINDOW = 6_000
"""Tokens; a request may have four characters for each."""


def step(*actions: dict[str, object], see: object = "The page as it was shown.") -> dict[str, object]:
    return {"what_i_see": see, "plan_to_goal": "Visit every item.", "next_move": "Go on.", "action": list(actions)}


def scenario(site: Site) -> dict[str, object]:
    seen = {"__seen__": CODE}
    everything = {"__seen__": CODE, "all": True}
    steps = [step({"navigate": {"url": site.url("/shelf?item=1")}})]
    for number in range(1, ITEMS + 1):
        steps.append(step({"write_file": {"file_name": "log.md", "content": f"{number}\n", "append": True}}, see=seen))
        steps.append(step({"scroll": {"down": True}}))
        if number < ITEMS:
            steps.append(step({"click": {"index": {"text": "Next item"}}}))
    steps.append(step({"done": {"text": everything}}))
    assert len(steps) == 40
    return {"steps": steps, "goals": ["The code of every item is told."], "summaries": [everything]}


@pytest.fixture
def expected() -> str:
    return "; ".join(f"Code of item {number}: {code_of(number)}" for number in range(1, ITEMS + 1))


async def test_a_run_of_forty_steps_delivers_what_it_saw_before_its_history_was_summed_up(
    finish: Finish, site: Site, expected: str
):
    outcome, work = await finish(
        scenario(site), provider="compatible", window=WINDOW, max_steps=45, task="Collect the codes of all items."
    )
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.DONE, expected, True)
    assert outcome.steps == 40

    # The feed has the goal, every step, every receipt, and the compactions.
    assert [plan.step for plan in work.plans] == list(range(1, 41))
    assert {receipt.status for receipt in work.receipts} <= {ReceiptStatus.OK, ReceiptStatus.NO_EFFECT}
    assert work.notices.count("compacted") >= 2
    assert work.of(GoalStated)[0].goal == "The code of every item is told."

    # The record has every step with its request, and loads.
    run = work.recorded
    assert [recorded.asked.step for recorded in run.steps] == list(range(1, 41))
    assert all(recorded.answered is not None and recorded.closed is not None for recorded in run.steps)
    assert run.closed is not None
    assert run.closed.output == expected

    # The archive keeps what left the prompt.
    archive = "".join(path.read_text() for path in sorted((work.folder / "scratchpad").glob("evidence_*.md")))
    assert f"Code of item 1: {code_of(1)}" in archive

    assert not any("\nevidence_1.md (" in request.text for request in work.asked), "it is none of the agent's own files"

    # No request outgrows the window, whichever step it is of.
    sizes = [len(request.text) for request in work.asked]
    assert max(sizes) <= 4 * WINDOW
    assert max(sizes[20:]) <= 1.3 * max(sizes[:20])
