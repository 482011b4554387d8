"""Measures caps: the window that each is in, and what the ledger has in it.

What is dated after the window counts in it, too: it is there only if the clock was set back, which shall give nobody
money to spend twice. The sum is kept beside the cap, so that what a charge costs does not grow with the ledger.
"""

from collections.abc import Iterable
from datetime import datetime

from appliance.money.caps import Gauge
from appliance.money.windows import read_zone, window_at
from appliance.persistence.caps import keep_sum
from appliance.persistence.ledger import sum_spent
from appliance.persistence.records import CapRecord
from appliance.persistence.transaction import Transaction


async def measure(transaction: Transaction, caps: Iterable[CapRecord], now: datetime) -> tuple[Gauge, ...]:
    """Return how the caps stand at this moment, an aware time; nothing is held yet."""
    gauges: list[Gauge] = []
    for cap in caps:
        window = window_at(cap.period, read_zone(cap.time_zone), now)
        if cap.kept_usd is not None and cap.kept_since == window.start:
            spent = cap.kept_usd
        else:
            spent = await sum_spent(transaction, cap.scope, cap.subject_id, window.start)
        gauges.append(Gauge(cap, window, now, spent))
    return tuple(gauges)


async def keep(transaction: Transaction, gauges: Iterable[Gauge]) -> None:
    """Keep what was measured in this transaction, which writes; charges are added to it until the window is over."""
    for gauge in gauges:
        if gauge.cap.kept_since != gauge.window.start:
            await keep_sum(transaction, gauge.cap.id, gauge.window.start, gauge.spent)
