"""The facts that a page states about itself, gathered from JSON-LD, meta tags and labelled text, most trusted first."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any, Literal, cast

from appliance.content import Content

Source = Literal["linked", "meta", "labelled", "named", "page"]
Value = str | int | float | bool | tuple[str, ...]

ABOUT_THE_SITE = {
    "breadcrumblist", "website", "webpage", "collectionpage", "itempage", "aboutpage", "itemlist", "searchaction",
    "imageobject", "listitem", "sitenavigationelement", "faqpage", "wpheader", "wpfooter",
}  # fmt: skip
_BEHIND_IT = {"organization", "corporation", "onlinestore", "store", "localbusiness", "person", "videoobject", ""}
_NOT_ABOUT_IT = {
    "@context", "@id", "@type", "@graph", "review", "reviews", "isrelatedto", "issimilarto", "itemlistelement",
    "mainentityofpage", "potentialaction", "breadcrumb", "ispartof", "haspart", "hasvariant", "comment", "sameas",
    "shippingdetails", "hasmerchantreturnpolicy", "seller",
}  # fmt: skip
_SAYS_LITTLE = {"name", "value", "url", "price", "text", "description", "image", "date", "title", "email", "telephone"}
_UNIT_CODES = {"KGM": "kg", "GRM": "g", "MTR": "m", "CMT": "cm", "MMT": "mm", "KMT": "km", "INH": "in", "LTR": "l"}
_DEEPEST = 4
_INLINE = re.compile(r"</?(?:b|i|u|em|strong|span|a|small|sup|sub|mark|code)(?:\s[^<>]*)?>", re.IGNORECASE)
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True)
class Fact:
    """One statement: `name` is as the page spells it, the parts of a nested name joined with dots.

    `source` is where it stands, most trusted first: JSON-LD, meta tags, under a label, named by the markup alone, or
    somewhere on the page.
    """

    name: str
    value: Value
    source: Source

    @property
    def key(self) -> str:
        """The whole name in lower case."""
        return self.name.lower()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the innermost name, with those of the one around it where it says too little by itself."""
        if self.source != "linked":
            return split_words(self.name)
        outer, _, inner = self.name.rpartition(".")
        if outer and inner.lower() in _SAYS_LITTLE:
            return split_words(outer.rsplit(".", 1)[-1]) + split_words(inner)
        return split_words(inner)


def gather_facts(content: Content) -> list[Fact]:
    """Return what the page states; a statement that it makes in two ways at once is left out."""
    facts = [fact for entity in _main_entities(content) for fact in facts_of_entity(entity)]
    facts += [Fact(name, _tidy(value), "meta") for name, value in content.meta if value.strip()]
    facts += facts_under_labels(content.labelled, "labelled")
    heading = re.search(r"^# (.+)$", content.markdown, re.MULTILINE)
    if heading:
        facts.append(Fact("heading", _tidy(re.sub(r"[*_`]", "", heading[1])), "page"))
    if content.title.strip():
        facts.append(Fact("page title", _tidy(content.title), "page"))
    facts.append(Fact("page url", content.url, "page"))
    return [fact for fact in facts if fact.value not in ("", ())]


@lru_cache(maxsize=4_096)
def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, lower case and in the singular: camelCase, snake_case, "Label text"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(_singular(word) for word in re.findall(r"[^\W_]+", spaced.lower()))


def bare(text: str) -> str:
    """Return the letters and digits of a text in lower case: what is left where only signs and case differ."""
    return re.sub(r"[\W_]", "", text).lower()


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def facts_of_entity(entity: dict[str, Any]) -> list[Fact]:
    """Return what one object of JSON-LD states."""
    return [fact for fact in _flatten(entity, "", 0) if fact.value not in ("", ())]


def facts_under_labels(pairs: Iterable[tuple[str, str]], source: Source) -> list[Fact]:
    """Return what pairs of a name and its text state; what one name states in two ways is left out."""
    by_words: dict[tuple[str, ...], list[Fact]] = {}
    for label, text in pairs:
        fact = Fact(label.strip(" :\t"), _tidy(text), source)
        if fact.value:
            by_words.setdefault(fact.words, []).append(fact)
    return [group[0] for group in by_words.values() if len({fact.value for fact in group}) == 1 and group[0].words]


def _tidy(text: str) -> str:
    return " ".join(unescape(text).split())


def _plain(text: str) -> str:
    """Return the text without the tags that descriptions in JSON-LD often have."""
    return " ".join(_MARKUP.sub(" ", _INLINE.sub("", unescape(text))).split())


def _main_entities(content: Content) -> list[dict[str, Any]]:
    """Return what the page is about: one thing of each kind, or, if it names nothing else, who is behind it.

    Of several of a kind, as in a list, one counts only if the page itself names it.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for entity in (entity for document in content.linked_data for entity in expand(document)):
        groups.setdefault(type_of(entity), []).append(entity)
    chosen: dict[str, dict[str, Any]] = {}
    for kind, group in groups.items():
        named = group if len(group) == 1 else [entity for entity in group if _is_named(entity, content)]
        if len(named) == 1 and kind not in ABOUT_THE_SITE:
            chosen[kind] = named[0]
    main = [entity for kind, entity in chosen.items() if kind not in _BEHIND_IT]
    return main or list(chosen.values())


def expand(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-LD document, what a page is about before the page."""
    graph = document.get("@graph")
    if isinstance(graph, list):
        for item in cast("list[Any]", graph):
            if isinstance(item, dict):
                yield from expand(cast("dict[str, Any]", item))
        return
    main = document.get("mainEntity")
    if isinstance(main, dict):
        yield from expand(cast("dict[str, Any]", main))
    yield document


def type_of(entity: dict[str, Any]) -> str:
    """Return the first type of an object of JSON-LD in lower case, "" without one."""
    kinds = entity.get("@type")
    named = cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]
    return str(next(iter(named), None) or "").rsplit("/", 1)[-1].lower()


def _is_named(entity: dict[str, Any], content: Content) -> bool:
    if str(entity.get("url") or "").split("#")[0] == content.url.split("#", maxsplit=1)[0]:
        return True
    name = _tidy(str(entity.get("name") or entity.get("headline") or "")).lower()
    return bool(name) and name in _tidy(content.title).lower()


def _flatten(node: dict[str, Any], path: str, depth: int) -> Iterator[Fact]:
    for name, value in node.items():
        own = name.removeprefix("schema:")
        if own.lower() not in _NOT_ABOUT_IT:
            yield from _facts_of(f"{path}.{own}" if path else own, value, depth)


def _facts_of(key: str, value: Any, depth: int) -> Iterator[Fact]:
    if isinstance(value, bool | int | float):
        yield Fact(key, value, "linked")
    elif isinstance(value, str):
        yield Fact(key, _plain(re.sub(r"^https?://schema\.org/", "", value)), "linked")
    elif isinstance(value, dict) and depth < _DEEPEST:
        inner = cast("dict[str, Any]", value)
        if type_of(inner) == "quantitativevalue" and isinstance(inner.get("value"), str | int | float):
            unit = inner.get("unitText") or _UNIT_CODES.get(str(inner.get("unitCode")), "")
            yield Fact(key, _tidy(f"{inner['value']} {unit}"), "linked")
        yield from _flatten(inner, key, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        yield from _facts_of_list(key, cast("list[Any]", value), depth)


def _facts_of_list(key: str, values: list[Any], depth: int) -> Iterator[Fact]:
    objects = [cast("dict[str, Any]", value) for value in values if isinstance(value, dict)]
    if key.lower().endswith("additionalproperty"):
        for item in objects:
            if isinstance(item.get("value"), str | int | float):
                yield Fact(_tidy(str(item.get("name") or "")).replace(".", " "), item["value"], "linked")
        return
    texts = tuple(text for text in (_name_of(value) for value in values) if text)
    if texts:
        yield Fact(key, texts, "linked")
        yield Fact(f"{key}.name", texts, "linked")
    inner = [list(_flatten(item, key, depth + 1)) for item in objects]
    common = [fact for fact in inner[0] if all(fact in facts for facts in inner)] if inner else []
    yield from common


def _name_of(value: Any) -> str:
    if isinstance(value, str):
        return _tidy(value)
    if isinstance(value, dict):
        item = cast("dict[str, Any]", value)
        return _tidy(str(item.get("name") or item.get("text") or item.get("url") or ""))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
