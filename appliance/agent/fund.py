"""Asks, before each step, whether the caps of whoever pays leave room for it. Of those caps the agent knows nothing."""

import asyncio
from decimal import Decimal
from typing import Protocol

from appliance.agent.budget import Budget
from appliance.errors import MoneySpent
from appliance.pause import Pause

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

    async def reserve_again(self, amount: Decimal | None, spent: Decimal) -> str | None:
        """Hold back so many US dollars for the rest of a step in which the run stood still; like `reserve`."""
        ...


class Funding:
    """Gets the steps of one run their money; without a fund there is always enough.

    In a pause the money may go to others, so that it has to be asked for again.
    """

    def __init__(self, fund: Fund | None, budget: Budget, pause: Pause | None = None) -> None:
        self._fund = fund
        self._budget = budget
        self._pause = pause or Pause()
        self._pauses = 0
        self._asking = asyncio.Lock()
        self._until: Decimal | None = None

    async def before_step(self) -> None:
        """Hold back what the next step is likely to cost.

        Where that is too much the step becomes the one that hands in the answer. Raises MoneySpent when there is no
        room for that either, or nothing yet to hand in.
        """
        budget = self._budget
        if self._fund is None or budget.is_delivering:
            return
        spent, usual = budget.known_cost, budget.usual_step
        self._pauses = self._pause.count
        if budget.limit is None:
            wanted = None if usual is None else usual * _SPARE
            self._until = None if wanted is None else spent + wanted
            refusal = await self._fund.reserve(wanted, spent)
            if refusal is None:
                return
            if budget.spent.steps == 0:
                raise MoneySpent(refusal)
            budget.call_for_answer(MoneySpent(refusal))
        self._until = None if usual is None else spent + usual
        if (refusal := await self._fund.reserve(usual, spent)) is not None:
            raise MoneySpent(refusal)

    async def before_call(self) -> None:
        """Hold back, when there was a pause in the step, what is left of what was held for it until then.

        Raises MoneySpent when others have it by now.
        """
        if self._fund is None:
            return
        async with self._asking:
            pauses = self._pause.count
            if pauses == self._pauses:
                return
            spent = self._budget.known_cost
            left = None if self._until is None else max(Decimal(0), self._until - spent)
            if (refusal := await self._fund.reserve_again(left, spent)) is not None:
                raise MoneySpent(refusal)
            self._pauses = pauses
