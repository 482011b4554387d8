"""Asks, before each step, whether the caps of whoever pays leave room for it. Of those caps the agent knows nothing."""

from decimal import Decimal
from typing import Protocol

from appliance.agent.budget import Budget
from appliance.errors import MoneySpent
from appliance.events import cost_of

_SPARE = Decimal("1.5")
"""What is asked for beyond the cost of an average step, since steps differ."""


class Fund(Protocol):
    """What holds money back for one run."""

    async def reserve(self, amount: Decimal | None, spent: Decimal) -> str | None:
        """Hold back so many US dollars for the step that begins, of a run that has spent so many.

        None is an amount that cannot be told, since no price is known. Returns None when it is held, else a sentence
        that says which cap leaves no room. May wait for the steps of other runs.
        """
        ...


class Funding:
    """Gets the steps of one run their money; without a fund there is always enough."""

    def __init__(self, fund: Fund | None, budget: Budget) -> None:
        self._fund = fund
        self._budget = budget

    async def before_step(self) -> None:
        """Hold back what the next step is likely to cost.

        Where that is too much the step becomes the one that hands in the answer. Raises MoneySpent when there is no
        room for that either, or nothing yet to hand in.
        """
        budget = self._budget
        if self._fund is None or budget.is_delivering:
            return
        spent, usual = cost_of(budget.charges), budget.usual_step
        if budget.limit is None:
            refusal = await self._fund.reserve(None if usual is None else usual * _SPARE, spent)
            if refusal is None:
                return
            if budget.spent.steps == 0:
                raise MoneySpent(refusal)
            budget.call_for_answer(MoneySpent(refusal))
        if (refusal := await self._fund.reserve(usual, spent)) is not None:
            raise MoneySpent(refusal)
