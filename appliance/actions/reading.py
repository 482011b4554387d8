"""Actions that look things up in the page without a model."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.evidence import keep_read
from appliance.browser.documents import Answer
from appliance.browser.effects import page_function
from appliance.errors import ActionInvalid
from appliance.words import ReceiptStatus

MAX_HITS = 25
MAX_FOUND = 50
MATCH_CUT, TEXT_CUT = 300, 200
"""Characters at which the page's script cuts a match, and the text of an element."""


class SearchPage(Parameters):
    """Parameters of search_page."""

    pattern: str = Field(min_length=1)
    regex: bool = False


class FindElements(Parameters):
    """Parameters of find_elements."""

    selector: str = Field(min_length=1)


async def _search_page(context: ActionContext, parameters: SearchPage) -> Receipt:
    browser = context.browser
    function = page_function("sight", "searchPage")
    answers = await browser.run_everywhere(function, parameters.pattern, parameters.regex, MAX_HITS)
    if "error" in answers[0].value:
        raise ActionInvalid(f"The pattern is not a regular expression: {answers[0].value['error']}.")
    total = sum(int(answer.value["total"]) for answer in answers)
    if not total:
        return Receipt(ReceiptStatus.OK, f'No place on the page has "{parameters.pattern}".')
    hits = [hit for answer in answers for hit in answer.value["hits"]]
    keep_read(context, map(_around, hits))
    lines = [
        f"{_where(answer, browser.line_number(answer, hit['place']) if hit['place'] >= 0 else None)}"
        f"{hit['before']} «{hit['match']}» {hit['after']}".strip()
        for answer in answers
        for hit in answer.value["hits"]
    ][:MAX_HITS]
    shown = f", the first {len(lines)} are shown" if total > len(lines) else ""
    text = f'{total} place(s) on the page have "{parameters.pattern}"{shown}.'
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(lines))


async def _find_elements(context: ActionContext, parameters: FindElements) -> Receipt:
    function = page_function("sight", "findElements")
    answers = await context.browser.run_everywhere(function, parameters.selector, MAX_FOUND)
    if "error" in answers[0].value:
        raise ActionInvalid(f"{parameters.selector!r} is not a CSS selector.")
    total = sum(int(answer.value["total"]) for answer in answers)
    if not total:
        return Receipt(ReceiptStatus.OK, f"No element fits {parameters.selector!r}.")
    elements = [element for answer in answers for element in answer.value["found"]]
    keep_read(context, map(_said, elements), _links(elements))
    lines = [_where(answer, None) + _line(element) for answer in answers for element in answer.value["found"]][
        :MAX_FOUND
    ]
    shown = f", the first {len(lines)} are shown" if total > len(lines) else ""
    text = f"{total} element(s) fit {parameters.selector!r}{shown}."
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(lines))


def _where(answer: Answer, line: int | None) -> str:
    frame = f"in the frame {answer.url[:80]}" if answer.url else ""
    place = ", ".join(part for part in (f"line {line}" if line else "", frame) if part)
    return f"({place}) " if place else ""


def _line(element: dict[str, Any]) -> str:
    attributes = "".join(f' {name}="{_in_one_line(value)}"' for name, value in element["attributes"].items())
    marks = "" if element["shown"] else " (hidden)"
    children = f" ({element['children']} children)" if element["children"] else ""
    return f"<{element['tag']}{attributes}>{element['text']}{children}{marks} in {element['path']}"


def _in_one_line(value: object) -> str:
    """Return a value in one line, so that no part of it passes for an element of its own."""
    return "\\n".join(str(value).splitlines())


def _joined(before: str, after: str) -> str:
    """Return two parts of a text as one: with a space between them, unless that would part a number."""
    is_number = before[-1:].isdigit() and (after[:1].isdigit() or (after[:1] in (".", ",") and after[1:2].isdigit()))
    is_rest = before[-1:] in (".", ",") and before[-2:-1].isdigit() and after[:1].isdigit()
    return f"{before}{'' if is_number or is_rest else ' '}{after}"


def _around(hit: dict[str, Any]) -> str:
    """Return a match with the whole words around it: at both ends a word or number may have been cut."""
    before = str(hit["before"]).partition(" ")[2]
    match = _whole(str(hit["match"]), MATCH_CUT)
    return match if match != hit["match"] else _joined(_joined(before, match), str(hit["after"]).rpartition(" ")[0])


def _whole(text: str, cut: int) -> str:
    """Return a text without its last word when it was cut at so many characters."""
    return text if len(text) < cut else text.rpartition(" ")[0]


def _said(element: dict[str, Any]) -> str:
    """Return the words of an element, and those of its attributes that are meant to be read."""
    attributes = element["attributes"]
    read = (attributes[name] for name in ("alt", "title", "value", "datetime", "content") if name in attributes)
    return " ".join(_whole(str(text), TEXT_CUT) for text in (element["text"], *read))


def _links(elements: list[dict[str, Any]]) -> Iterator[str]:
    for element in elements:
        yield from (str(element["attributes"][name]) for name in ("href", "src") if name in element["attributes"])


SEARCH_PAGE = Action("search_page", "Find a text or regular expression in the whole page.", SearchPage, _search_page)
FIND_ELEMENTS = Action(
    "find_elements",
    "List the elements that fit a CSS selector, with attributes and full values.",
    FindElements,
    _find_elements,
)
