from decimal import Decimal
from typing import Any

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.errors import MoneySpent, RunFailed, RunTimedOut, StepsSpent
from appliance.events import Charge, TokenCount, cost_of
from appliance.words import FailureKind, Purpose

STEP = TokenCount(input=1000)


def cent_per_thousand(tokens: TokenCount) -> Decimal:
    return Decimal(tokens.input) / 100_000


def budget(**limits: Any) -> Budget:
    return Budget(Assignment("Do it", **limits), cent_per_thousand)


def test_what_other_services_cost_counts_against_the_cap_and_is_told_once():
    money = budget(max_cost_usd=Decimal("0.05"))
    money.charge(STEP, 0.1)
    money.charge_service(Decimal("0.003"))
    money.charge_service(Decimal("-0.001"))
    assert money.money_left() == Decimal("0.038")
    charged = [charge.cost_usd for charge in money.take_charges() if charge.purpose is Purpose.CAPTCHA]
    assert (charged, money.take_charges()) == ([Decimal("0.003"), Decimal("-0.001")], ())
    assert (money.spent.cost_usd, money.spent.services_usd) == (Decimal("0.012"), Decimal("0.002"))
    money.charge_service(Decimal("0.038"))
    with pytest.raises(MoneySpent):
        money.check_money()


def test_the_last_step_is_kept_for_the_answer():
    money = budget(max_steps=3)
    assert [money.next_step().limit for _ in range(2)] == [None, None]
    assert isinstance(money.next_step().limit, StepsSpent)
    with pytest.raises(StepsSpent):
        money.next_step()
    assert money.spent.steps == 3


def test_a_run_of_one_step_may_use_it_for_work():
    money = budget(max_steps=1)
    assert money.next_step().limit is None
    with pytest.raises(StepsSpent):
        money.next_step()


def test_money_for_one_more_step_is_kept_for_the_answer():
    money = budget(max_cost_usd=Decimal("0.045"))
    for _ in range(3):
        assert money.next_step().limit is None
        money.charge(STEP, 0.1)
    assert isinstance(money.next_step().limit, MoneySpent)


def test_a_cap_that_pays_for_no_further_step_ends_the_run():
    money = budget(max_cost_usd=Decimal("0.015"))
    money.next_step()
    money.charge(STEP, 0.1)
    with pytest.raises(MoneySpent):
        money.next_step()


def test_a_run_that_has_nothing_left_to_spend_says_what_to_do_about_it():
    with pytest.raises(MoneySpent, match="spent all it may cost already; name a higher maxCostUsd"):
        budget(max_cost_usd=Decimal(0)).next_step()


def test_a_run_stops_when_an_average_step_costs_more_than_is_left():
    money = budget(max_cost_usd=Decimal("0.10"))
    for tokens in (1000, 5000, 3000):
        money.next_step()
        money.charge(TokenCount(input=tokens), 0.1)
    # 0.09 spent in three steps: an average one costs 0.03, and 0.01 is left.
    with pytest.raises(MoneySpent):
        money.next_step()


def test_the_answer_is_asked_for_while_the_last_step_could_be_paid_once_more_beside_an_average_one():
    money = budget(max_cost_usd=Decimal("0.10"))
    for tokens in (1000, 1000, 4000):
        money.next_step()
        money.charge(TokenCount(input=tokens), 0.1)
    # 0.04 is left: less than an average step (0.02) and one like the last (0.04) together.
    assert isinstance(money.next_step().limit, MoneySpent)


def test_estimates_do_not_change_what_a_usual_reply_is():
    money = budget()
    money.charge(TokenCount(output=300), 0.1)
    money.charge_unanswered(TokenCount(output=300))
    assert money.usual_output == 300


def test_a_call_that_was_given_up_is_counted_by_estimate():
    money = budget(max_cost_usd=Decimal("0.015"))
    money.next_step()
    money.charge_unanswered(STEP)
    assert (money.spent.cost_usd, money.spent.estimated_calls) == (Decimal("0.01"), 1)
    with pytest.raises(MoneySpent):
        money.next_step()


def test_a_run_that_gets_nowhere_is_asked_for_its_answer_once():
    money = budget()
    money.next_step()
    money.call_for_answer(RunFailed("No further.", failure=FailureKind.AGENT_FAILURE))
    assert isinstance(money.next_step().limit, RunFailed)
    with pytest.raises(RunFailed, match="No further"):
        money.next_step()


def test_a_cap_without_a_known_price_is_refused():
    money = Budget(Assignment("Do it", max_cost_usd=Decimal(1)), lambda tokens: None)
    money.next_step()
    with pytest.raises(RunFailed, match="price of this model is not known") as failed:
        money.charge(STEP, 0.1)
    assert failed.value.failure is FailureKind.AGENT_FAILURE


def test_an_unknown_price_makes_the_cost_unknown_and_not_zero():
    money = Budget(Assignment("Do it"), lambda tokens: None)
    money.charge(STEP, 0.1)
    assert money.spent.cost_usd is None
    assert money.spent.tokens == STEP


def test_a_step_may_use_the_time_up_to_the_last_tenth():
    assert budget(timeout=100.0).next_step().seconds == pytest.approx(90.0, abs=1.0)
    assert budget(timeout=10_000.0).next_step().seconds == pytest.approx(9_000.0, abs=1.0)


def test_a_slow_model_has_up_to_thirty_seconds_of_a_short_run_kept_for_the_answer():
    money = budget(timeout=100.0)
    money.next_step()
    money.charge(STEP, 12.0)
    assert money.next_step().seconds == pytest.approx(82.0, abs=1.0)
    money.charge(STEP, 90.0)
    assert money.next_step().seconds == pytest.approx(70.0, abs=1.0)


def test_never_more_than_half_of_the_time_is_kept_for_the_answer():
    money = budget(timeout=20.0)
    money.next_step()
    money.charge(STEP, 90.0)
    assert money.next_step().seconds == pytest.approx(10.0, abs=1.0)


def test_a_long_run_keeps_a_tenth_of_its_time_whatever_its_model_does():
    money = budget(timeout=1_000.0)
    money.next_step()
    money.charge(STEP, 170.0)
    assert money.next_step().seconds == pytest.approx(900.0, abs=1.0)


def test_the_turn_for_the_answer_has_all_the_time_that_was_kept():
    money = budget(timeout=100.0)
    money.call_for_answer(StepsSpent("x"))
    assert money.next_step().seconds == pytest.approx(100.0, abs=1.0)


def test_the_answer_is_asked_for_when_only_the_reserve_is_left():
    money = budget(timeout=1e-6)
    assert isinstance(money.next_step().limit, RunTimedOut)
    with pytest.raises(RunTimedOut):
        money.next_step()


def test_charges_are_told_once_and_all_of_them_are_kept():
    money = budget()
    money.charge(STEP, 0.1)
    money.charge_unanswered(STEP, Purpose.REVIEW)
    told = money.take_charges()
    assert [(charge.purpose, charge.tokens, charge.is_estimated) for charge in told] == [
        (Purpose.STEP, STEP, False),
        (Purpose.REVIEW, STEP, True),
    ]
    money.charge(STEP, 0.1)
    assert money.take_charges() == money.charges[2:]
    assert money.take_charges() == ()


def test_the_known_cost_is_that_of_all_charges_and_leaves_out_those_without_a_price():
    money = Budget(Assignment("Do it"), lambda tokens: None if tokens.output else cent_per_thousand(tokens))
    money.charge(STEP, 0.1)
    money.charge(TokenCount(input=1000, output=1), 0.1)
    money.charge_service(Decimal("0.003"))
    money.charge_service(Decimal("-0.001"))
    money.charge_unanswered(STEP)
    assert money.spent.cost_usd is None
    assert money.known_cost == cost_of(money.charges) == Decimal("0.022")


def test_a_charge_names_the_model_and_the_price_list():
    money = Budget(Assignment("Do it"), cent_per_thousand, model="m", price_version=lambda: "list 3")
    money.charge(STEP, 0.1)
    assert money.charges == (Charge(Purpose.STEP, "m", STEP, Decimal("0.01"), price_version="list 3"),)


def test_every_call_is_priced_by_itself_and_rounded_before_it_is_added():
    def long_calls_cost_more(tokens: TokenCount) -> Decimal:
        return Decimal(tokens.input) * (2 if tokens.input > 1000 else 1) * Decimal("0.0000004")

    money = Budget(Assignment("Do it"), long_calls_cost_more)
    for tokens in (600, 600, 1001):
        money.charge(TokenCount(input=tokens), 0.1)
    assert money.spent.cost_usd == Decimal("0.00024") + Decimal("0.00024") + Decimal("0.000801")


def test_what_used_and_cost_nothing_is_no_charge():
    money = Budget(Assignment("Do it"), lambda tokens: Decimal(0))
    money.charge(TokenCount(), 0.1)
    assert money.charges == ()
