from decimal import Decimal

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import STEP_SECONDS, Budget
from appliance.errors import MoneySpent, RunFailed, RunTimedOut, StepsSpent
from appliance.events import TokenCount
from appliance.words import FailureKind

STEP = TokenCount(input=1000)


def cent_per_thousand(tokens: TokenCount) -> Decimal:
    return Decimal(tokens.input) / 100_000


def budget(**limits: object) -> Budget:
    return Budget(Assignment("Do it", **limits), cent_per_thousand)  # pyright: ignore[reportArgumentType]


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


def test_an_answer_of_the_wrong_form_may_be_given_once_more():
    money = budget(max_steps=2)
    money.next_step()
    money.next_step()
    assert isinstance(money.next_step(answer_refused=True).limit, StepsSpent)
    with pytest.raises(StepsSpent):
        money.next_step(answer_refused=True)


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


def test_a_step_may_use_the_time_up_to_the_reserve():
    assert budget(timeout=100.0).next_step().seconds == pytest.approx(90.0, abs=1.0)
    assert budget(timeout=10_000.0).next_step().seconds == STEP_SECONDS


def test_a_slow_model_has_more_time_kept_for_the_answer():
    money = budget(timeout=100.0)
    money.next_step()
    money.charge(STEP, 20.0)
    assert money.next_step().seconds == pytest.approx(70.0, abs=1.0)
    money.charge(STEP, 90.0)
    assert money.next_step().seconds == pytest.approx(50.0, abs=1.0)


def test_the_answer_is_asked_for_when_only_the_reserve_is_left():
    money = budget(timeout=1e-6)
    assert isinstance(money.next_step().limit, RunTimedOut)
    with pytest.raises(RunTimedOut):
        money.next_step()


def test_tokens_are_told_once():
    money = budget()
    money.charge(STEP, 0.1)
    money.charge(STEP, 0.1)
    assert money.take_tokens() == STEP + STEP
    assert money.take_tokens() == TokenCount()
