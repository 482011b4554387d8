"""Actions that look things up in the page without a model."""

from typing import Any

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.browser.effects import page_function
from appliance.errors import ActionInvalid
from appliance.words import ReceiptStatus

MAX_HITS = 25
MAX_FOUND = 50


class SearchPage(Parameters):
    """Parameters of search_page."""

    pattern: str = Field(min_length=1)
    regex: bool = False


class FindElements(Parameters):
    """Parameters of find_elements."""

    selector: str = Field(min_length=1)


async def _search_page(context: ActionContext, parameters: SearchPage) -> Receipt:
    function = page_function("sight", "searchPage")
    found = await context.browser.tab.run(function, parameters.pattern, parameters.regex, MAX_HITS)
    if "error" in found:
        raise ActionInvalid(f"The pattern is not a regular expression: {found['error']}.")
    total, hits = int(found["total"]), found["hits"]
    if not total:
        return Receipt(ReceiptStatus.OK, f'No place on the page has "{parameters.pattern}".')
    lines = [f"{hit['before']} «{hit['match']}» {hit['after']}".strip() for hit in hits]
    shown = f", the first {len(hits)} are shown" if total > len(hits) else ""
    text = f'{total} place(s) on the page have "{parameters.pattern}"{shown}.'
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(lines))


async def _find_elements(context: ActionContext, parameters: FindElements) -> Receipt:
    found = await context.browser.tab.run(page_function("sight", "findElements"), parameters.selector, MAX_FOUND)
    if "error" in found:
        raise ActionInvalid(f"{parameters.selector!r} is not a CSS selector.")
    total, elements = int(found["total"]), found["found"]
    if not total:
        return Receipt(ReceiptStatus.OK, f"No element fits {parameters.selector!r}.")
    shown = f", the first {len(elements)} are shown" if total > len(elements) else ""
    text = f"{total} element(s) fit {parameters.selector!r}{shown}."
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(_line(element) for element in elements))


def _line(element: dict[str, Any]) -> str:
    attributes = "".join(f' {name}="{value}"' for name, value in element["attributes"].items())
    marks = "" if element["shown"] else " (hidden)"
    children = f" ({element['children']} children)" if element["children"] else ""
    return f"<{element['tag']}{attributes}>{element['text']}{children}{marks} in {element['path']}"


SEARCH_PAGE = Action(
    "search_page", "Find a text or regular expression in the whole page; costs nothing.", SearchPage, _search_page
)
FIND_ELEMENTS = Action(
    "find_elements", "List the elements that fit a CSS selector, with attributes.", FindElements, _find_elements
)
