"""Actions on the tabs of the agent's browser."""

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.errors import ActionFailed
from appliance.words import ReceiptStatus


class Switch(Parameters):
    """Parameters of switch."""

    tab_id: str


class Close(Parameters):
    """Parameters of close."""

    tab_id: str


async def _switch(context: ActionContext, parameters: Switch) -> Receipt:
    browser = context.browser
    tab_id = await _known(context, parameters.tab_id)
    before = browser.tab.tab_id
    if tab_id == before:
        return Receipt(ReceiptStatus.NO_EFFECT, f"Tab {tab_id} is the current one already.")
    await browser.switch_tab(tab_id)
    return Receipt(ReceiptStatus.OK, f"Switched from tab {before} to {tab_id} ({browser.tab.url}).", ends_chain=True)


async def _close(context: ActionContext, parameters: Close) -> Receipt:
    browser = context.browser
    tab_id = await _known(context, parameters.tab_id)
    was_current = tab_id == browser.tab.tab_id
    await browser.close_tab(tab_id)
    if tab_id in {tab.tab_id for tab in await browser.list_tabs()}:
        return Receipt(ReceiptStatus.FAILED, f"Tab {tab_id} did not close.", ends_chain=True)
    now = f"; now in tab {browser.tab.tab_id} ({browser.tab.url})" if was_current else ""
    return Receipt(ReceiptStatus.OK, f"Closed tab {tab_id}{now}.", ends_chain=was_current)


async def _known(context: ActionContext, tab_id: str) -> str:
    """Return the id as it is spelt; raises ActionFailed, naming the tabs there are, for an unknown one."""
    tabs = await context.browser.list_tabs()
    for tab in tabs:
        if tab.tab_id.casefold() == tab_id.strip().casefold():
            return tab.tab_id
    there = ", ".join(f"{tab.tab_id} ({tab.url[:80]})" for tab in tabs)
    raise ActionFailed(f"There is no tab {tab_id!r}; there are: {there}.")


SWITCH = Action("switch", "Go to another tab.", Switch, _switch, touches_page=False)
CLOSE = Action("close", "Close a tab.", Close, _close, touches_page=False)
