from collections.abc import Iterator
from decimal import Decimal

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.fund import Funding
from appliance.errors import MoneySpent
from appliance.events import TokenCount


class Purse:
    """A fund with a fixed amount that writes down what it was asked for."""

    def __init__(self, money: str) -> None:
        self.money = Decimal(money)
        self.asked: list[tuple[Decimal | None, Decimal]] = []

    async def reserve(self, amount: Decimal | None, spent: Decimal) -> str | None:
        self.asked.append((amount, spent))
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
