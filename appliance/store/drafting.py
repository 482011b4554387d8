"""Drafts of an answer's rows from pages that were read: what a page states, read as the schema asks for it.

Nothing is invented; what a page does not state, or states in two ways, is left out.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from appliance.content import Content
from appliance.store.facts import Fact, gather_facts
from appliance.store.fields import Field, describe_field
from appliance.store.filling import fill_fields
from appliance.store.links import Links
from appliance.store.pages import PageRead

if TYPE_CHECKING:
    from appliance.store.schema import AnswerSchema


def draft_rows(schema: "AnswerSchema", pages: Sequence[PageRead], links: Links) -> list[dict[str, Any]]:
    """Return the rows of the pages in their order, each with the address it was drafted from as `_page`.

    For a schema without a list it is one object. Every value fits its field's schema; pages that could not be read,
    and those that state nothing of what is asked for, give no row. Never raises.
    """
    shapes = schema.fields if schema.list_field is None else schema.item_fields
    fields = [
        describe_field(shape.name, shape.schema, schema.document, is_required=shape.is_required) for shape in shapes
    ]
    listed = {link.url for link in links.found}
    rows = [
        _draft(fields, page.content, page.asked if page.asked in listed else page.content.url, schema.document)
        for page in pages
        if page.content is not None
    ]
    rows = [row for row in rows if len(row) > 1]
    return rows if schema.list_field is not None else rows[:1]


def _draft(fields: list[Field], content: Content, address: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return the row; its own address is the one that a list gave, so that list and answer can be compared."""
    facts = [Fact(fact.name, address, "page") if fact.key == "page url" else fact for fact in gather_facts(content)]
    filled = fill_fields(fields, facts, document, content.url)
    return {**{name: value for name, value in filled.items() if value is not None}, "_page": content.url}
