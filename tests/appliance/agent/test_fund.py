import asyncio
from collections.abc import Iterator
from decimal import Decimal

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.fund import Funding
from appliance.errors import MoneySpent
from appliance.events import TokenCount
from appliance.pause import Pause


class Purse:
    """A fund with a fixed amount that writes down what it was asked for."""

    def __init__(self, money: str) -> None:
        self.money = Decimal(money)
        self.asked: list[tuple[Decimal | None, Decimal]] = []
        self.asked_again: list[tuple[Decimal | None, Decimal]] = []

    async def reserve(self, amount: Decimal | None, spent: Decimal) -> str | None:
        self.asked.append((amount, spent))
        return self.answer(amount, spent)

    async def reserve_again(self, amount: Decimal | None, spent: Decimal) -> str | None:
        self.asked_again.append((amount, spent))
        return self.answer(amount, spent)

    def answer(self, amount: Decimal | None, spent: Decimal) -> str | None:
        return None if amount is not None and spent + amount <= self.money else "The cap of the team is used up."


def a_dollar_per_thousand(tokens: TokenCount) -> Decimal | None:
    return Decimal(tokens.input + tokens.output) / 1000


def take_step(budget: Budget, tokens: int) -> None:
    budget.next_step()
    budget.charge(TokenCount(input=tokens), 1.0)


@pytest.fixture
def budget() -> Iterator[Budget]:
    yield Budget(Assignment("Work."), a_dollar_per_thousand)


async def test_a_step_asks_for_half_as_much_again_as_an_average_one_with_what_was_spent(budget: Budget) -> None:
    purse = Purse("1000")
    funding = Funding(purse, budget)
    await funding.before_step()
    take_step(budget, 1000)
    await funding.before_step()
    take_step(budget, 3000)
    await funding.before_step()
    assert purse.asked == [(Decimal("19.5"), 0), (Decimal("1.5"), 1), (Decimal(3), 4)]


async def test_without_a_fund_there_is_always_enough(budget: Budget) -> None:
    await Funding(None, budget).before_step()
    take_step(budget, 1000)
    assert budget.limit is None


async def test_a_run_that_has_nothing_yet_ends_when_its_first_step_does_not_fit(budget: Budget) -> None:
    with pytest.raises(MoneySpent, match="cap of the team"):
        await Funding(Purse("1"), budget).before_step()


async def test_what_is_left_for_an_average_step_is_for_handing_in_the_answer(budget: Budget) -> None:
    purse = Purse("20.2")
    funding = Funding(purse, budget)
    await funding.before_step()
    take_step(budget, 10_000)
    await funding.before_step()
    assert purse.asked[1:] == [(Decimal(15), 10), (Decimal(10), 10)]
    assert isinstance(budget.next_step().limit, MoneySpent)
    await funding.before_step()
    assert len(purse.asked) == 3, "the turn for the answer is the last"
    with pytest.raises(MoneySpent, match="cap of the team"):
        budget.next_step()


async def test_a_run_ends_when_there_is_no_room_for_the_answer_either(budget: Budget) -> None:
    funding = Funding(Purse("19.9"), budget)
    await funding.before_step()
    take_step(budget, 10_000)
    with pytest.raises(MoneySpent, match="cap of the team"):
        await funding.before_step()


async def test_a_step_without_a_price_is_asked_for_as_such() -> None:
    purse = Purse("1")
    with pytest.raises(MoneySpent):
        await Funding(purse, Budget(Assignment("Work."), lambda _: None)).before_step()
    assert purse.asked == [(None, 0)]


async def test_after_a_pause_the_first_call_asks_again_for_what_is_left_of_the_step(budget: Budget) -> None:
    purse, pause = Purse("100"), Pause()
    funding = Funding(purse, budget, pause)
    await funding.before_step()
    await funding.before_call()
    take_step(budget, 4_500)
    assert purse.asked_again == [], "nobody else could have the money"
    pause.pause()
    pause.resume()
    await asyncio.gather(funding.before_call(), funding.before_call())
    assert purse.asked_again == [(Decimal(15), Decimal("4.5"))]
    pause.pause()
    pause.resume()
    await funding.before_step()
    await funding.before_call()
    assert len(purse.asked_again) == 1, "the step after the pause got money of its own"


async def test_a_run_whose_money_others_took_in_a_pause_ends(budget: Budget) -> None:
    purse, pause = Purse("20"), Pause()
    funding = Funding(purse, budget, pause)
    await funding.before_step()
    pause.pause()
    pause.resume()
    purse.money = Decimal(1)
    for _ in range(2):
        with pytest.raises(MoneySpent, match="cap of the team"):
            await funding.before_call()


async def test_a_step_that_cost_more_than_was_held_goes_on_after_a_pause(budget: Budget) -> None:
    purse, pause = Purse("30"), Pause()
    funding = Funding(purse, budget, pause)
    await funding.before_step()
    take_step(budget, 25_000)
    pause.pause()
    pause.resume()
    await funding.before_call()
    assert purse.asked_again == [(0, 25)]
