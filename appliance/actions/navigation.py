"""Actions that open addresses."""

import re
from collections.abc import Awaitable
from dataclasses import replace
from typing import Literal
from urllib.parse import quote_plus

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.browser.dialogs import describe
from appliance.browser.tab import Navigation
from appliance.words import ReceiptStatus

ENGINES = {
    "duckduckgo": "https://duckduckgo.com/?q=",
    "google": "https://www.google.com/search?udm=14&q=",
    "bing": "https://www.bing.com/search?q=",
}
NAVIGATION_SECONDS = 40.0
DOWNLOAD_SECONDS = 10.0

_BARE_HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#].*)?|localhost(?::\d+)?(?:[/?#].*)?", re.IGNORECASE)


class Navigate(Parameters):
    """Parameters of navigate."""

    url: str
    new_tab: bool = False


class Search(Parameters):
    """Parameters of search."""

    query: str
    engine: Literal["duckduckgo", "google", "bing"] = "duckduckgo"


class GoBack(Parameters):
    """Parameters of go_back, which has none."""


async def _navigate(context: ActionContext, parameters: Navigate) -> Receipt:
    browser = context.browser
    url = parameters.url.strip()
    if _BARE_HOST.fullmatch(url):
        url = f"https://{url}"
    if not parameters.new_tab:
        return await _go(context, browser.tab.navigate(url), "Navigated")
    before = browser.tab.tab_id

    async def opening() -> Navigation:
        return (await browser.open_tab(url))[1]

    done = await _go(context, opening(), "Navigated")
    text = f"Opened tab {browser.tab.tab_id} beside {before} and switched to it. {done.text}"
    return replace(done, text=text, ends_chain=True)


async def _search(context: ActionContext, parameters: Search) -> Receipt:
    url = ENGINES[parameters.engine] + quote_plus(parameters.query)
    return await _go(context, context.browser.tab.navigate(url), f"Searched {parameters.engine}")


async def _go_back(context: ActionContext, _: GoBack) -> Receipt:
    return await _go(context, context.browser.tab.go_back(), "Went back")


async def _go(context: ActionContext, moving: Awaitable[Navigation], verb: str) -> Receipt:
    known = len(context.browser.downloads.all)
    navigation = await moving
    dialog = context.browser.dialog
    if dialog is not None:
        text = f"Still at {navigation.from_url}: {describe(dialog)}; answer it with answer_dialog."
        return Receipt(ReceiptStatus.NEEDS_DECISION, text, ends_chain=True)
    if navigation.error is not None:
        text = f"The page could not be opened, {navigation.error}; the tab shows {navigation.to_url}."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    if navigation.is_download:
        return await _download_receipt(context, navigation, known)
    status = f" (HTTP {navigation.status})" if navigation.status is not None and navigation.status >= 400 else ""
    note = f" {navigation.note}" if navigation.note else ""
    text = f"{verb} from {navigation.from_url or 'an empty page'} to {navigation.to_url}{status}.{note}"
    return Receipt(ReceiptStatus.OK, text, ends_chain=True)


async def _download_receipt(context: ActionContext, navigation: Navigation, known: int) -> Receipt:
    begun = await context.browser.downloads.wait_begun(known, DOWNLOAD_SECONDS)
    what = f": {context.browser.downloads.tell(begun[-1])}" if begun else ""
    return Receipt(ReceiptStatus.OK, f"The address is a file{what}; the tab still shows {navigation.to_url}.")


NAVIGATE = Action(
    "navigate", "Open an address in this tab, or in a new one.", Navigate, _navigate, deadline=NAVIGATION_SECONDS
)
SEARCH = Action(
    "search", "Search the web; opens the engine's result page.", Search, _search, deadline=NAVIGATION_SECONDS
)
GO_BACK = Action("go_back", "Go back to the tab's previous page.", GoBack, _go_back, deadline=NAVIGATION_SECONDS)
