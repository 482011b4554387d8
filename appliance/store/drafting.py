"""Drafts of an answer's rows from pages that were read: what a page states, read as the schema asks for it.

Nothing is invented; what a page does not state, or states in two ways, is left out.
"""

from collections.abc import Sequence
from typing import Any

from appliance.content import Content
from appliance.store.detail import draft_page
from appliance.store.fields import Field, read_fields
from appliance.store.filling import Filled
from appliance.store.links import FoundLink, Links
from appliance.store.listing import StatedRow, has_required, stated_rows
from appliance.store.pages import PageRead
from appliance.store.paging import is_paging
from appliance.store.schema import AnswerSchema
from appliance.store.texts import page_key

_FIRM = ("linked", "labelled")
"""Sources that say of a page what it is about."""


def draft_rows(schema: AnswerSchema, pages: Sequence[PageRead], links: Links) -> list[dict[str, Any]]:
    """Return the rows of the pages in their order, each with the address it was drafted from as `_page`.

    A page gives one row, or all those of a list that it states itself. For a schema without a list it is one object.
    Every value fits its field's schema; pages that could not be read, and those that state nothing of what is asked
    for, give no row. Never raises.
    """
    if schema.list_field is None:
        return draft_object(schema, pages, links)
    fields = read_fields(schema.item_fields)
    found = {link.url: link for link in links.found}
    rows: list[dict[str, Any]] = []
    drafted: set[tuple[str, str]] = set()
    for page in pages:
        # Several addresses may lead to one page: it states its rows once.
        content = page.content
        if content is None or not fields or (place := (page_key(content.url), content.markdown)) in drafted:
            continue
        drafted.add(place)
        rows += _rows_of(page, content, fields, found.get(page.asked))
    return rows


def draft_object(schema: AnswerSchema, pages: Sequence[PageRead], links: Links) -> list[dict[str, Any]]:
    """Return the answer's own fields as one row, or none: what the first page states, the gaps filled from the rest.

    What only later pages state counts where they agree.
    """
    fields = [field for field in read_fields(schema.fields) if field.name != schema.list_field]
    found = {link.url: link for link in links.found}
    drafts = [
        _values(draft_page(page, page.content, fields, found.get(page.asked)))
        for page in pages
        if page.content is not None
    ]
    drafts = [draft for draft in drafts if draft]
    if not drafts:
        return []
    first, *others = drafts
    for field in fields:
        stated = [draft[field.name] for draft in others if field.name in draft]
        if field.name not in first and stated and all(value == stated[0] for value in stated):
            first[field.name] = stated[0]
    source = next(page.content.url for page in pages if page.content is not None)
    return [{**first, "_page": source}]


def draft_listing(schema: AnswerSchema, content: Content) -> list[dict[str, Any]]:
    """Return the rows that one page states in a list of its own, none when it has no such list."""
    rows = stated_rows(content, read_fields(schema.item_fields))
    return [{**_values(row.values), "_page": content.url} for row in rows]


def draft_page_row(schema: AnswerSchema, page: PageRead) -> dict[str, Any]:
    """Return the one row that a page states as that which it is about, empty when it states none."""
    if page.content is None:
        return {}
    single = _values(draft_page(page, page.content, read_fields(schema.item_fields), None))
    return {**single, "_page": page.content.url} if single else {}


def _rows_of(page: PageRead, content: Content, fields: Sequence[Field], link: FoundLink | None) -> list[dict[str, Any]]:
    single = draft_page(page, content, fields, link)
    rows = stated_rows(content, fields)
    if rows and _is_list(StatedRow(single), rows, fields, link):
        return [{**_values(row.values), "_page": content.url} for row in rows]
    named = {name for name, filled in single.items() if filled.fact.key != "page url"}
    return [{**_values(single), "_page": content.url}] if named else []


def _is_list(single: StatedRow, rows: list[StatedRow], fields: Sequence[Field], link: FoundLink | None) -> bool:
    """Whether a page is rather the list of its rows than about one thing; what a list leads to is about one thing."""
    if link is not None and not is_paging(link.text):
        return not has_required(single, fields) and all(has_required(row, fields) for row in rows)
    firm = sum(filled.fact.source in _FIRM for filled in single.values.values())
    least = min(len(row.values) for row in rows)
    return least > firm or (firm == 0 and least > 0)


def _values(filled: dict[str, Filled]) -> dict[str, Any]:
    return {name: one.value for name, one in filled.items()}
