"""The one row of a page that is about one thing: its facts, its running text, its links, and its entry in a list."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from appliance.content import Content
from appliance.store.facts import Fact, facts_under_labels, gather_facts, split_words
from appliance.store.fields import Field
from appliance.store.filling import Filled, fill_fields
from appliance.store.leftovers import fill_extra
from appliance.store.links import FoundLink
from appliance.store.nested import fill_objects
from appliance.store.pages import PageRead
from appliance.store.prose import find_prose, whole_text
from appliance.store.readings import find_currency

_LABELLED = re.compile(r"([^\W\d_][^:\n]{0,38}[^\W\d_])\s*:\s+(\S.{0,79})")
_MAX_ROW = 40
_URL_WORDS = {"url", "uri", "href", "link", "page", "address"}


def draft_page(page: PageRead, content: Content, fields: Sequence[Field], link: FoundLink | None) -> dict[str, Filled]:
    """Return what a page states, by the name of the field; `link` is the one of a list that led to it."""
    address = link.url if link is not None else content.url
    facts = [fact for fact in gather_facts(content) if fact.key != "page url"]
    facts += _row_facts(link)
    facts += [
        Fact("page url", address, "page"),
        Fact("page prose", find_prose(content.markdown), "page"),
        Fact("page text", whole_text(content.markdown), "page"),
    ]
    facts = [fact for fact in facts if fact.value]
    filled = fill_fields(fields, facts, content.url)
    own = next((field for field in fields if field.shape.role == "own_url"), None)
    if own is not None and own.shape.accepts(address):
        filled[own.name] = Filled(address, Fact("page url", address, "page"))
    filled |= fill_objects([field for field in fields if field.name not in filled], facts, content.url)
    filled |= _fill_from_links([field for field in fields if field.name not in filled], page.links, address)
    return filled | fill_extra([field for field in fields if field.name not in filled], content, link, filled)


def _row_facts(link: FoundLink | None) -> list[Fact]:
    """Return what the entry of the list says beside the link: labelled texts, and a price if there is one alone."""
    if link is None:
        return []
    pieces = [
        piece.strip() for piece in link.row.splitlines()[:_MAX_ROW] if piece.strip() and piece.strip() != link.text
    ]
    pairs = [match.groups() for piece in pieces if (match := _LABELLED.fullmatch(piece))]
    facts = facts_under_labels(((str(label), str(text)) for label, text in pairs), "labelled")
    money = {piece for piece in pieces if len(piece) <= 40 and find_currency(piece) and re.search(r"\d", piece)}
    if len(money) == 1:
        facts.append(Fact("price", money.pop(), "page"))
    return facts


def _fill_from_links(fields: Sequence[Field], links: Iterable[FoundLink], own: str) -> dict[str, Filled]:
    """Fill fields for addresses from the one link whose words or address have all the words of the field's name."""
    found: dict[str, Filled] = {}
    candidates = [link for link in links if link.url != own]
    for field in fields:
        if field.shape.role != "url":
            continue
        for words in _stems(field):
            fitting = {link.url: link for link in candidates if words <= _words_of(link)}
            if len(fitting) == 1 and field.shape.accepts(next(iter(fitting))):
                address, link = fitting.popitem()
                found[field.name] = Filled(address, Fact(link.text or "link", address, "page"))
                break
    return found


def _stems(field: Field) -> list[frozenset[str]]:
    stems = [frozenset(word for word in phrase if word not in _URL_WORDS) for phrase in field.phrases]
    return [stem for stem in dict.fromkeys(stems) if stem]


def _words_of(link: FoundLink) -> frozenset[str]:
    path: Any = re.sub(r"^https?://[^/]*", "", link.url).partition("?")[0]
    return frozenset((*split_words(link.text), *split_words(str(path).replace("/", " ").replace(".", " "))))
