"""The observation after steps that did nothing to the browser: the page is not read again, its numbers stay valid."""

from dataclasses import replace

from appliance.actions.registry import Registry
from appliance.agent.step import Step
from appliance.browser.connection import Browser
from appliance.browser.observation import Observation
from appliance.words import ReceiptStatus


async def unchanged(before: Step, browser: Browser, registry: Registry, pauses: int = 0) -> Observation | None:
    """Return a stub (address, title, tabs) when the step before was desk work only and the address is the same.

    None means that the page has to be looked at, as it has after a pause: `pauses` is how many there were by now.
    """
    seen = before.observation
    if (
        seen is None
        or pauses != before.pauses
        or browser.dialog is not None
        or browser.tab.url != seen.url
        or not _was_desk_work(before, registry)
    ):
        return None
    tabs = await browser.list_tabs()
    current = [[tab.tab_id for tab in views if tab.is_current] for views in (seen.tabs, tabs)]
    if current[0] != current[1]:
        return None
    return replace(seen, tabs=tabs, lines=(), notes=(), screenshot=None, duration_ms=0, is_stub=True)


def _was_desk_work(step: Step, registry: Registry) -> bool:
    """Whether every action that was done kept away from the browser, and one at least was done."""
    if step.plan is None or step.trouble:
        return False
    pairs = zip(step.plan.actions, step.receipts, strict=False)
    done = [(action.call.name, receipt) for action, receipt in pairs if receipt.status is not ReceiptStatus.SKIPPED]
    return bool(done) and all(registry.is_desk_work(name) and not receipt.is_page_touched for name, receipt in done)
