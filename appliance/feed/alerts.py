"""Tells that a cap reached a mark, once for each window: in the transaction that writes what was spent, and in the feed
of the session that spent it."""

from uuid import UUID

import structlog

from appliance.events import Notice
from appliance.money.caps import SOFT_MARK, Gauge, seen_by
from appliance.money.measuring import keep, measure
from appliance.money.sentences import say_alert
from appliance.persistence.caps import add_alert, list_caps_of, list_marks
from appliance.persistence.columns import utc_now
from appliance.persistence.events import append_event
from appliance.persistence.records import Payer
from appliance.persistence.transaction import Transaction

log = structlog.get_logger()


async def tell_alerts(transaction: Transaction, session_id: UUID, run_id: UUID, payer: Payer) -> None:
    """Write the alerts that are due now that charges of the run are in the ledger, and a notice of each."""
    gauges = await measure(transaction, await list_caps_of(transaction, payer), utc_now())
    await keep(transaction, gauges)
    for gauge in gauges:
        marks = gauge.marks()
        if not marks:
            continue
        told = await list_marks(transaction, gauge.cap.id, gauge.window.start)
        due = [mark for mark in marks if mark not in told]
        for mark in due:
            amounts = (gauge.spent, gauge.limit_at(mark))
            await add_alert(transaction, gauge.cap.id, gauge.window.start, mark, amounts)
        for mark in _worth_telling(due):
            log.warning("a cap reached a mark", cap=str(gauge.cap.id), percent=mark, text=say_alert(gauge, mark))
            await _tell(transaction, session_id, run_id, seen_by(gauge, payer), mark)


def _worth_telling(due: list[int]) -> list[int]:
    """Return the marks to speak of: of percentages that are reached at once, the highest says it all."""
    highest = max(due, default=SOFT_MARK)
    return [mark for mark in due if mark in (SOFT_MARK, highest)]


async def _tell(transaction: Transaction, session_id: UUID, run_id: UUID, gauge: Gauge, mark: int) -> None:
    is_trouble = mark == 100
    if gauge.is_hidden and not is_trouble:
        return  # a percentage says what others have spent
    notice = Notice(code="cap_alert", text=say_alert(gauge, mark), is_trouble=is_trouble)
    await append_event(transaction, session_id, run_id, notice)
