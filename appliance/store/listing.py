"""The rows that a page itself states: a table, cards, definition lists, things named one by one in JSON-LD."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from appliance.content import Content, Entry
from appliance.store.facts import ABOUT_THE_SITE, Fact, expand, facts_of_entity, facts_under_labels, type_of
from appliance.store.fields import Field
from appliance.store.filling import Filled, fill_fields
from appliance.store.readings import find_currency

_MONEY = re.compile(r"(?:[€£$¥₹₽₩₺]|\b(?:[A-Z]{3}|zł|kr)\b)\s?\d|\d\s?(?:[€£$¥₹₽₩₺]|(?:[A-Z]{3}|zł|kr)\b)")
_LONGEST_MONEY = 40
_SHORTEST_DESCRIPTION = 40
_STOCK = re.compile(r"(?:in|out of) stock|sold out|available|unavailable|auf lager|ausverkauft", re.IGNORECASE)
_OF_ANY_ENTRY = ("heading", "page url")
_NEUTRAL = {
    "product", "item", "card", "article", "entry", "listing", "list", "result", "row", "col", "tile", "teaser", "post",
    "book", "job", "event", "offer", "text", "value", "field", "label", "content", "info", "data", "main", "current",
}  # fmt: skip
"""Words of class names that say only what kind of thing the part belongs to."""


@dataclass(frozen=True)
class StatedRow:
    """One row with what each value was read from; `texts` counts all that its entry says."""

    values: dict[str, Filled]
    texts: int = 1


def stated_rows(content: Content, fields: Sequence[Field]) -> list[StatedRow]:
    """Return the rows of that list on the page which says most of what is asked for; none without two of them."""
    best: list[StatedRow] = []
    for facts_of_each in (*_linked_lists(content), *_entry_lists(content)):
        rows = [StatedRow(fill_fields(fields, facts, content.url), len(facts)) for facts in facts_of_each]
        rows = _those_that_fit(rows, fields)
        if len(rows) > 1 and _worth(rows) > _worth(best):
            best = rows
    return best


def has_required(row: StatedRow, fields: Sequence[Field]) -> bool:
    """Whether a row has something, and all that the schema demands of it."""
    return bool(row.values) and all(field.name in row.values for field in fields if field.shape.is_required)


def _those_that_fit(rows: list[StatedRow], fields: Sequence[Field]) -> list[StatedRow]:
    """Leave out entries that say nothing of their own, and those that are of another kind than the rest."""
    least = min(2, len(fields))
    demands = any(field.shape.is_required for field in fields)
    rows = [row for row in rows if len(row.values) >= least or (demands and has_required(row, fields))]
    complete = [row for row in rows if has_required(row, fields)]
    return complete if 2 * len(complete) > len(rows) else rows


def _worth(rows: list[StatedRow]) -> float:
    """Return how much a list says: many rows count, but few that say much count more than a long menu."""
    return sum(_substance(row) ** 2 for row in rows)


def _substance(row: StatedRow) -> float:
    own = sum(filled.fact.key not in _OF_ANY_ENTRY for filled in row.values.values())
    return own + 0.25 * (len(row.values) - own) + 0.1 * min(row.texts, 8)


# ---- what the entries of a list state ---------------------------------------------------------------------------


def _linked_lists(content: Content) -> Iterator[list[list[Fact]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for document in content.linked_data:
        for entity in (*expand(document), *_listed(document)):
            groups.setdefault(type_of(entity), []).append(entity)
    for kind, entities in groups.items():
        if len(entities) > 1 and kind not in ABOUT_THE_SITE:
            yield [_entity_facts(entity) for entity in entities]


def _listed(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what an ItemList names, also where a page is said to be about one; the way to a page is no list."""
    main = document.get("mainEntity")
    for holder in (document, cast("dict[str, Any]", main) if isinstance(main, dict) else {}):
        elements = holder.get("itemListElement")
        if type_of(holder) == "breadcrumblist" or not isinstance(elements, list):
            continue
        for element in cast("list[Any]", elements):
            if isinstance(element, dict):
                named = cast("dict[str, Any]", element)
                inner = named.get("item")
                yield cast("dict[str, Any]", inner) if isinstance(inner, dict) else {**named, "@type": "Thing"}


def _entity_facts(entity: dict[str, Any]) -> list[Fact]:
    facts = facts_of_entity(entity)
    address = entity.get("url") or entity.get("@id")
    if isinstance(address, str) and address.startswith(("http://", "https://", "/")):
        facts.append(Fact("page url", address, "page"))
    return facts


def _entry_lists(content: Content) -> Iterator[list[list[Fact]]]:
    for group in content.entries:
        yield [_entry_facts(entry) for entry in group]


def _entry_facts(entry: Entry) -> list[Fact]:
    facts = facts_under_labels(entry.labelled, "labelled")
    facts += facts_under_labels(((_meaning(name), text) for name, text in entry.named), "named")
    found = {
        "heading": entry.title,
        "page url": entry.url,
        "image": entry.image,
        "price": _only(text for text in entry.texts if _is_money(text)),
        "availability": _only(text for text in entry.texts if _STOCK.fullmatch(text)),
        "description": _only(
            text for text in entry.texts if len(text) >= _SHORTEST_DESCRIPTION and text != entry.title
        ),
        "datepublished": _only(text for name, text in entry.named if name == "time"),
    }
    return [*facts, *(Fact(name, value, "page") for name, value in found.items() if value)]


def _is_money(text: str) -> bool:
    return (
        len(text) <= _LONGEST_MONEY
        and (_MONEY.search(text) is not None or find_currency(text) is not None)
        and any(sign.isdigit() for sign in text)
    )


def _only(texts: Iterator[str]) -> str:
    """Return the one text there is; two different ones say nothing."""
    found = set(texts)
    return found.pop() if len(found) == 1 else ""


def _meaning(name: str) -> str:
    """Return what a class name says, without the part that names the block and words that say nothing."""
    words = re.split(r"[-_]+|(?<=[a-z])(?=[A-Z])", re.sub(r"^.*__", "", name).split("--")[0])
    told = [word for word in words if word.lower() not in _NEUTRAL]
    return " ".join(told)
