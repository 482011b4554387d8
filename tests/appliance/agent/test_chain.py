"""Chains on a real page: cut where the page is no longer the one that was planned for, and told in full."""

from appliance.events import ActionFinished
from appliance.words import ReceiptStatus
from tests.appliance.agent.conftest import Finish, Work
from tests.appliance.agent.moves import click, navigate
from tests.site import Site

OK, NO_EFFECT, FAILED, SKIPPED = (
    ReceiptStatus.OK,
    ReceiptStatus.NO_EFFECT,
    ReceiptStatus.FAILED,
    ReceiptStatus.SKIPPED,
)
DONE = {"done": {"text": "It is done."}}


def receipts_of(work: Work, step: int) -> list[ActionFinished]:
    return [receipt for receipt in work.receipts if receipt.step == step]


async def test_a_button_that_became_another_one_is_not_clicked_a_second_time(finish: Finish, site: Site):
    _, work = await finish([navigate(site, "/agent_swap.html"), [click("Next"), click("Next"), DONE], DONE])
    first, second, third = receipts_of(work, 2)
    assert [first.status, second.status, third.status] == [OK, SKIPPED, SKIPPED]
    assert "Purchased!" not in work.asked[2].text
    assert "Confirm purchase" in work.asked[2].text


async def test_a_number_written_as_text_or_without_its_name_is_looked_at_again_as_well(finish: Finish, site: Site):
    for spelled in ({"click": {"index": "3"}}, {"hover": 3}):
        _, work = await finish([navigate(site, "/agent_cart.html"), [click("Close the shop"), spelled], DONE])
        assert receipts_of(work, 2)[1].status is SKIPPED, spelled
        assert "[3] is now disabled" in receipts_of(work, 2)[1].text


async def test_what_was_skipped_is_told_with_the_reason_to_feed_record_and_model(finish: Finish, site: Site):
    chain = [click("Close the shop"), click("Plus"), click("Dead"), DONE]
    outcome, work = await finish([navigate(site, "/agent_cart.html"), chain, DONE])
    assert outcome.steps == 3
    told = receipts_of(work, 2)
    assert [receipt.status for receipt in told] == [OK, SKIPPED, SKIPPED, SKIPPED]
    assert "disabled" in told[1].text
    closed = work.recorded.steps[1].closed
    assert closed is not None
    assert [receipt.text for receipt in closed.receipts] == [receipt.text for receipt in told]
    shown = work.asked[2].text
    assert "skipped. Not done. The page is no longer what you planned for: [3] is now disabled." in shown
    assert shown.count("skipped") >= 3


async def test_a_chain_goes_on_over_elements_that_are_what_they_were(finish: Finish, site: Site):
    chain = [click("Plus"), click("Plus"), click("Plus"), click("Dead"), click("Plus")]
    _, work = await finish([navigate(site, "/agent_cart.html"), chain, DONE])
    assert [receipt.status for receipt in receipts_of(work, 2)] == [OK, OK, OK, NO_EFFECT, OK]


async def test_a_button_that_the_chain_itself_makes_usable_is_clicked(finish: Finish, site: Site):
    chain = [{"input": {"index": {"label": "Name"}, "text": "Ada"}}, click("Send")]
    _, work = await finish([navigate(site, "/agent_cart.html"), chain, DONE])
    assert [receipt.status for receipt in receipts_of(work, 2)] == [OK, OK]
    assert "Sent." in work.asked[2].text


async def test_no_more_than_eight_actions_of_a_reply_are_run(finish: Finish, site: Site):
    _, work = await finish([navigate(site, "/agent_cart.html"), [click("Plus")] * 9, DONE])
    assert len(receipts_of(work, 2)) == 8


async def test_an_answer_at_the_end_of_a_chain_that_went_well_is_accepted(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site, "/agent_cart.html"), [click("Plus"), DONE]])
    assert outcome.output == "It is done."
    assert outcome.steps == 2
    assert [receipt.status for receipt in receipts_of(work, 2)] == [OK, OK]


async def test_an_answer_behind_an_action_without_effect_is_held_back_and_the_model_told(finish: Finish, site: Site):
    outcome, work = await finish([navigate(site, "/agent_cart.html"), [click("Dead"), DONE], DONE])
    assert outcome.steps == 3
    assert [receipt.status for receipt in receipts_of(work, 2)] == [NO_EFFECT, SKIPPED]
    assert "had no effect" in work.asked[2].text


async def test_an_unknown_number_fails_and_cuts_the_chain(finish: Finish, site: Site):
    chain = [click("Plus"), {"click": {"index": 999_999}}, click("Plus")]
    _, work = await finish([navigate(site, "/agent_cart.html"), chain, DONE])
    first, second, third = receipts_of(work, 2)
    assert [first.status, second.status, third.status] == [OK, SKIPPED, SKIPPED]
    assert "999999" in second.text
