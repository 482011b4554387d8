"""Keeps what is spent under the caps: nothing is begun under one that is used up, and each step gets its money first.

What a step is likely to cost is held back in memory until the ledger has what it did cost. So runs that go on at the
same time overshoot a cap by one step together, and not by one each. Limits and sums are read anew each time: whatever
changes about a cap counts from the next step on. A run that stands still holds nothing back.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from appliance.errors import MoneySpent, RequestInvalid
from appliance.models.catalog import ModelEntry
from appliance.money.caps import Gauge, find_short, find_used_up, narrowest, seen_by
from appliance.money.measuring import measure
from appliance.money.sentences import reached, say_cap, say_short, say_used_up
from appliance.persistence.caps import list_caps_of
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.ledger import costs_of_runs
from appliance.persistence.records import CapRecord, Payer, RunRecord
from appliance.persistence.teams import choose_payer
from appliance.runtime.price_list import PriceList
from appliance.words import CapScope

LONGEST_WAIT = 60.0
"""Seconds that a step waits at most for the steps of other runs to be over, when only they leave no room for it."""

_LOOK_AGAIN = 1.0
_STEPS_REMEMBERED = 20


async def check_caps(database: Database, payer: Payer | None, entry: ModelEntry) -> None:
    """Raise CapReached when a cap of who pays is used up; without a payer the first team pays.

    Raises RequestInvalid for a model without a price under a hard cap, which could not be kept.
    """
    async with database.read() as transaction:
        payer = await choose_payer(transaction, payer)
        gauges = await measure(transaction, await list_caps_of(transaction, payer), utc_now())
    if (used_up := find_used_up(gauges)) is not None:
        raise reached(seen_by(used_up, payer))
    hard = narrowest(gauge for gauge in gauges if gauge.hard is not None)
    if hard is None:
        return
    prices = PriceList(database)
    await prices.refresh()
    if not prices.is_priced(entry):
        raise RequestInvalid(
            f"The price of {entry.name} is not known, so {say_cap(hard)} could not be kept; say what it costs with "
            f"“pilothouse price set {entry.name} …”, name another model, or make the cap a soft one.",
            "body",
            "model",
        )


@dataclass(frozen=True)
class _Sums:
    """What was read at one moment: how the hard caps stand, and what of each run's spending is in the ledger."""

    gauges: tuple[Gauge, ...]
    written: Mapping[UUID, Decimal]


@dataclass(frozen=True)
class _Answer:
    """Whether the money is held; else why it is not, and whether that may change when other steps are over."""

    refusal: str | None = None
    must_wait: bool = False


class Treasury:
    """Holds money back for the steps of all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._funds: dict[UUID, RunFund] = {}
        self._closed = 0
        self._step_over = asyncio.Event()
        self._costs: dict[str, deque[Decimal]] = {}

    async def admit(self, run: RunRecord) -> None:
        """Raise MoneySpent when a cap of who pays for a run that begins is used up by now."""
        if run.payer is None:
            return
        async with self._database.read() as transaction:
            gauges = await measure(transaction, await list_caps_of(transaction, run.payer), utc_now())
        if (used_up := find_used_up(gauges)) is not None:
            raise MoneySpent(say_used_up(seen_by(used_up, run.payer)))

    def open(self, run: RunRecord) -> "RunFund | None":
        """Return what the run asks for money before each step, until `close`; None when nobody is known to pay."""
        if run.payer is None:
            return None
        fund = self._funds[run.id] = RunFund(self, run, run.payer)
        return fund

    def close(self, run_id: UUID, spent: Decimal | None = None) -> None:
        """Hold nothing more for the run, whose charges are in the ledger by now: so many US dollars, if that is known.

        Calling it again does no harm.
        """
        fund = self._funds.pop(run_id, None)
        if fund is not None:
            self._closed += 1
            self.end_step(fund, spent)

    async def reserve(self, fund: "RunFund", amount: Decimal | None) -> str | None:
        """Hold the amount for a step of the fund's run, or return why there is no room for it."""
        deadline = asyncio.get_running_loop().time() + LONGEST_WAIT
        while True:
            step_over = self._step_over
            sums = await self._read(fund.payer)
            is_late = asyncio.get_running_loop().time() >= deadline
            answer = self._decide(fund, amount, sums, is_late=is_late)
            if not answer.must_wait or is_late:
                return answer.refusal
            # Sums and limits may also change without a word.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await step_over.wait()

    def end_step(self, fund: "RunFund", spent: Decimal | None) -> None:
        """Hold nothing for the fund's step any more, and remember what it did cost if that is known."""
        if spent is not None:
            if fund.step:
                self._costs.setdefault(fund.model, deque(maxlen=_STEPS_REMEMBERED)).append(spent - fund.begun)
            fund.spent = fund.begun = spent
        self.let_go(fund)

    def let_go(self, fund: "RunFund") -> None:
        """Hold nothing more for the fund's step, and let those look again who wait for that."""
        fund.step, fund.is_blind = Decimal(0), False
        self._step_over.set()
        self._step_over = asyncio.Event()

    async def _read(self, payer: Payer) -> _Sums:
        while True:
            closed = self._closed
            async with self._database.read() as transaction:
                caps = [cap for cap in await list_caps_of(transaction, payer) if cap.hard_usd is not None]
                if not caps:
                    return _Sums((), {})
                gauges = await measure(transaction, caps, utc_now())
                written = await costs_of_runs(transaction, tuple(self._funds))
            # Of a run that was closed meanwhile, the last charges may be missing in what was read.
            if closed == self._closed:
                return _Sums(gauges, written)

    def _decide(self, fund: "RunFund", amount: Decimal | None, sums: _Sums, *, is_late: bool) -> _Answer:
        """Hold the amount if there is room; nobody else can decide in the meantime."""
        hard = narrowest(sums.gauges)
        if hard is None or amount == 0:
            return _Answer()
        if amount is None:
            return _Answer(f"The price of this model is not known, so {say_cap(hard)} cannot be kept.")
        known = max(self._costs.get(fund.model, ()), default=None)
        if fund.is_new and known is not None:
            amount = max(amount, known)
        others = [other for other in self._funds.values() if other is not fund]
        owed = [_gauge_with(gauge, [(one, one.owed(sums.written)) for one in (fund, *others)]) for gauge in sums.gauges]
        if (short := find_short(owed, amount)) is not None:
            return _Answer(say_short(seen_by(short, fund.payer), amount))
        full = [_gauge_with(gauge, [(one, one.under_way(sums.written)) for one in others]) for gauge in owed]
        if (short := find_short(full, amount)) is not None:
            return _Answer(say_short(seen_by(short, fund.payer), amount), must_wait=True)
        if known is None and not is_late and any(_bind_both(sums.gauges, fund, other) for other in others):
            return _Answer(must_wait=True)
        fund.step, fund.is_blind, fund.is_new = amount, known is None, False
        return _Answer()


class RunFund:
    """What is held back for one run: `spent` when that was asked for, `begun` when its step began, and `step` for it.

    A step `is_blind` while nobody knows what steps of its model cost: then only one is taken at a time. For a run that
    stands still nothing is held: `standing` returns what it has spent then, None while it goes on.
    """

    def __init__(self, treasury: Treasury, run: RunRecord, payer: Payer) -> None:
        self._treasury = treasury
        self.run_id = run.id
        self.model = run.model
        self.payer = payer
        self.spent = self.begun = Decimal(0)
        self.standing: Callable[[], Decimal | None] = _goes_on
        self.step = Decimal(0)
        self.is_blind = False
        self.is_new = True

    async def reserve(self, amount: Decimal | None, spent: Decimal) -> str | None:
        """Hold back so much for the step that begins, of a run that has spent so much; the step before is over.

        Returns None when it is held, else the sentence that says which cap leaves no room. Waits for steps of other
        runs where only they are in the way.
        """
        self._treasury.end_step(self, spent)
        return await self._treasury.reserve(self, amount)

    async def reserve_again(self, amount: Decimal | None, spent: Decimal) -> str | None:
        """Hold back so much for the rest of a step in which the run stood still; otherwise like `reserve`."""
        self._treasury.let_go(self)
        self.spent = spent
        return await self._treasury.reserve(self, amount)

    def owed(self, written: Mapping[UUID, Decimal]) -> Decimal:
        """Return what was spent before this step, or before the run stood still, and is not in the ledger yet."""
        standing = self.standing()
        spent = self.spent if standing is None else standing
        return max(Decimal(0), spent - written.get(self.run_id, Decimal(0)))

    def under_way(self, written: Mapping[UUID, Decimal]) -> Decimal:
        """Return what this step may yet add to the ledger beside what is owed; nothing while the run stands still."""
        if self.standing() is not None:
            return Decimal(0)
        whole = max(Decimal(0), self.spent + self.step - written.get(self.run_id, Decimal(0)))
        return whole - self.owed(written)


def _gauge_with(gauge: Gauge, amounts: Sequence[tuple[RunFund, Decimal]]) -> Gauge:
    """Return the gauge holding the amounts of those runs, too, which its cap binds."""
    return replace(gauge, held=gauge.held + sum(amount for fund, amount in amounts if _binds(gauge.cap, fund.payer)))


def _binds(cap: CapRecord, payer: Payer) -> bool:
    subjects = {CapScope.KEY: payer.key_id, CapScope.MEMBER: payer.user_id, CapScope.TEAM: payer.team_id}
    return cap.scope is CapScope.INSTANCE or subjects[cap.scope] == cap.subject_id


def _bind_both(gauges: Sequence[Gauge], fund: RunFund, other: RunFund) -> bool:
    """Whether the other run takes a blind step under a cap that binds this one as well."""
    is_blind = other.is_blind and other.standing() is None
    return is_blind and any(_binds(gauge.cap, fund.payer) and _binds(gauge.cap, other.payer) for gauge in gauges)


def _goes_on() -> None:
    """Return that the run does not stand still."""
