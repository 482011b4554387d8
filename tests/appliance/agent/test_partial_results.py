"""What a run hands over when it ends without an answer, and what it remembers."""

from decimal import Decimal

import pytest

from appliance.words import Ending, FailureKind
from tests.appliance.agent.conftest import Finish, Work
from tests.site import Site

WRITE = {"write_file": {"file_name": "notes.md", "content": "a"}}
DONE = {"done": {"text": "It is done."}}
TITLES = ["One", "Two"]
SAVED = {"checkpoint": {"file_name": "titles.json", "value": TITLES, "partial": True}}


def file_of(work: Work, name: str) -> str:
    return (work.folder / "scratchpad" / name).read_text()


async def test_a_run_out_of_steps_hands_over_the_newest_partial_result(finish: Finish):
    older = {"checkpoint": {"file_name": "titles.json", "value": ["One"], "partial": True}}
    outcome, work = await finish([older, SAVED, WRITE], max_steps=3)
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.STEPS_SPENT, TITLES, False)
    assert "titles.json" in outcome.summary
    assert file_of(work, "titles.json") == '[\n "One",\n "Two"\n]'


async def test_a_run_out_of_money_hands_it_over_without_another_call(finish: Finish):
    dear = {"input": 10_000}
    scenario = [{"reply": SAVED, "__usage__": dear}, WRITE]
    outcome, work = await finish(scenario, max_cost_usd=Decimal("0.011"))
    assert (outcome.ending, outcome.failure) == (Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED)
    assert (outcome.output, outcome.is_successful) == (TITLES, False)
    assert len(work.asked) == 1


async def test_a_run_out_of_time_hands_it_over(finish: Finish):
    outcome, _ = await finish([SAVED, {"__hang__": 60}], timeout=8.0)
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.TIMED_OUT, TITLES, False)


async def test_a_run_that_a_fault_ends_hands_it_over(finish: Finish):
    outcome, work = await finish([SAVED, {"__http__": 400}])
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.PROVIDER_ERROR)
    assert (outcome.output, outcome.is_successful) == (TITLES, False)
    assert work.recorded.closed is not None
    assert work.recorded.closed.output == TITLES


async def test_a_delivered_answer_is_the_output_whatever_was_saved_before(finish: Finish):
    outcome, _ = await finish([SAVED, DONE])
    assert (outcome.output, outcome.is_successful) == ("It is done.", True)
    assert "titles.json" not in outcome.summary


async def test_a_plain_checkpoint_is_a_file_and_nothing_more(finish: Finish):
    plain = {"checkpoint": {"file_name": "plain.md", "value": "Half of it."}}
    outcome, work = await finish([plain, WRITE], max_steps=2)
    assert (outcome.output, outcome.is_successful) == (None, False)
    assert file_of(work, "plain.md") == "Half of it."


async def test_a_checkpoint_under_a_name_that_cannot_be_is_refused_and_hands_nothing_over(finish: Finish):
    bad = {"checkpoint": {"file_name": "titles.exe", "value": TITLES, "partial": True}}
    outcome, work = await finish([bad, WRITE], max_steps=2)
    assert outcome.output is None
    assert "not a text format" in work.receipts[0].text


async def test_remembered_values_can_be_recalled_later_and_in_the_next_run(finish: Finish):
    keep = [{"remember": {"key": "order", "value": "A-17"}}, {"remember": {"key": "rows", "value": [1, 2]}}]
    _, work = await finish([keep, {"recall": {"key": "order"}}, DONE])
    assert work.receipts[2].text == "order is 'A-17'."
    _, work = await finish([{"recall": {}}, DONE])
    assert "order" in work.receipts[0].text
    assert "order: A-17" in work.asked[1].text


async def test_the_start_address_and_the_goal_are_there_from_the_start(finish: Finish):
    _, work = await finish(
        [{"recall": {"key": "startUrl"}}, {"recall": {}}, DONE], task="Read http://a.test/x, then y."
    )
    assert work.receipts[0].text == "startUrl is 'http://a.test/x'."
    assert work.receipts[1].text == "Remembered are: startUrl, goal."
    assert work.notices == ["start_url"]


async def test_without_an_address_in_the_task_the_first_page_seen_is_the_start(finish: Finish, site: Site):
    first, second = site.url("/act_second.html"), site.url("/act_pointer.html")
    opening = [{"recall": {}}, {"navigate": {"url": first}}, {"navigate": {"url": second}}]
    _, work = await finish([*opening, {"recall": {"key": "startUrl"}}, DONE])
    assert work.receipts[0].text == "Remembered are: goal."
    assert work.receipts[3].text == f"startUrl is '{first}'."
    assert not work.notices


@pytest.mark.parametrize("key", ["startUrl", "goal"])
async def test_what_the_task_has_set_cannot_be_remembered_otherwise(finish: Finish, key: str):
    task = "Read http://a.test/x, then y."
    own = {"write_file": {"file_name": "clipboard.json", "content": f'{{"{key}": "mine", "other": "1"}}'}}
    steps = [{"remember": {"key": key, "value": "mine"}}, own, {"recall": {"key": key}}, DONE]
    _, work = await finish(steps, task=task)
    assert work.receipts[0].status == "failed"
    assert "set by the task" in work.receipts[0].text
    assert "mine" not in work.receipts[2].text


@pytest.mark.parametrize("key", ["", "nothing", "x" * 200])
async def test_an_unknown_key_is_told_with_those_there_are(finish: Finish, key: str):
    _, work = await finish([[{"remember": {"key": "a", "value": "1"}}, {"recall": {"key": key}}], DONE])
    assert "there are:" in work.receipts[1].text
    assert "a" in work.receipts[1].text.partition("there are:")[2]
