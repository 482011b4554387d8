"""Runs that get nowhere on a real page: warned, made to change course, asked for what they have, then ended."""

import itertools

import pytest

from appliance.words import Ending, FailureKind, ReceiptStatus
from tests.appliance.agent.conftest import Finish, Work
from tests.appliance.agent.moves import click, navigate
from tests.site import Site

DONE = {"done": {"text": "As far as I came.", "success": False}}
MOST_STEPS = 20


def assert_ladder(work: Work) -> None:
    notices = [code for code in work.notices if code in ("repeating", "replanning", "delivery_turn")]
    assert [code for code, _ in itertools.groupby(notices)] == ["repeating", "replanning", "delivery_turn"]


async def test_the_same_click_without_effect_is_pointed_out_barred_and_then_ends_the_run(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), click("Dead")], max_steps=MOST_STEPS)
    assert (outcome.ending, outcome.failure, outcome.is_successful) == (
        Ending.FAILED,
        FailureKind.AGENT_FAILURE,
        False,
    )
    assert_ladder(work)
    # One step to get there, eight tries, and the turn for the answer.
    assert outcome.steps == 10
    assert "got no further in 3 tries" in work.asked[4].text
    assert 'click {"index":4}' in work.asked[4].text
    assert "must change course" in work.asked[6].text
    tries = work.receipts[1:9]
    assert [receipt.status for receipt in tries] == [ReceiptStatus.NO_EFFECT] * 5 + [ReceiptStatus.FAILED] * 3
    assert "not done again" in tries[5].text


async def test_scrolling_at_the_end_of_the_page_for_ever_is_ended(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), {"scroll": {"down": True}}], max_steps=MOST_STEPS)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert outcome.steps <= 10
    assert_ladder(work)


async def test_a_model_that_only_names_numbers_that_are_not_there_is_ended(finish: Finish, site: Site):
    wrong = [{"click": {"index": 90_000 + number}} for number in range(MOST_STEPS)]
    outcome, work = await finish([navigate(site), *wrong], max_steps=MOST_STEPS)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert outcome.steps <= 10
    assert_ladder(work)


async def test_waiting_for_ever_is_ended(finish: Finish, site: Site):
    waits = [{"wait": {"seconds": number / 100}} for number in range(MOST_STEPS)]
    outcome, work = await finish([navigate(site), *waits], max_steps=MOST_STEPS)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert outcome.steps <= 10
    assert_ladder(work)


@pytest.mark.parametrize("nothing", [{"action": [{}]}, {"action": []}, {}])
async def test_empty_actions_are_failures_and_end_the_run_within_eight_calls(
    finish: Finish, nothing: dict[str, object]
):
    outcome, work = await finish([{"what_i_see": "a", "plan_to_goal": "b", "next_move": "c", "action": [], **nothing}])
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.INVALID_OUTPUT)
    assert len(work.asked) <= 8
    assert "reply_repaired" in work.notices


async def test_empty_actions_between_useless_ones_bring_the_end_nearer(finish: Finish, site: Site):
    empty = {"what_i_see": "a", "plan_to_goal": "b", "next_move": "c", "action": [{}]}
    scenario = [navigate(site), *([empty, click("Dead")] * MOST_STEPS)]
    outcome, _ = await finish(scenario, max_steps=MOST_STEPS)
    assert outcome.failure is FailureKind.AGENT_FAILURE
    assert outcome.steps <= 6


async def test_what_a_run_has_when_it_gets_nowhere_is_handed_in(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), *([click("Dead")] * 8), DONE], max_steps=MOST_STEPS)
    assert (outcome.ending, outcome.output, outcome.is_successful) == (Ending.DONE, "As far as I came.", True)
    assert "no further in 8 tries" in outcome.summary
    assert "Nothing but done is accepted now" in work.asked[-1].text


async def test_the_same_click_on_a_page_that_moves_on_is_no_loop(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site), *([click("Plus")] * 15), DONE])
    assert outcome.output == "As far as I came."
    assert not work.notices
    assert [receipt.status for receipt in work.receipts[1:-1]] == [ReceiptStatus.OK] * 15


async def test_another_way_after_the_warning_ends_the_warning(finish: Finish, site: Site):
    scenario = [navigate(site), *([click("Dead")] * 3), click("Plus"), click("Plus"), DONE]
    outcome, work = await finish(scenario)
    assert outcome.output == "As far as I came."
    assert work.notices == ["repeating"]
    assert "got no further" not in work.asked[6].text
