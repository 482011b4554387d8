"""What a page states beside the fields that are asked for, for a field that takes whatever else there is."""

from collections.abc import Iterator, Sequence
from typing import Any

from appliance.content import Content
from appliance.store.facts import Fact, split_words
from appliance.store.fields import Field
from appliance.store.filling import Filled
from appliance.store.links import FoundLink

MAX_VALUE = 500
MAX_PAIRS = 60
_EXTRA = {
    "extra", "additional", "attribute", "property", "properties", "specification", "spec", "detail", "other", "misc",
    "miscellaneous", "metadata", "characteristic", "feature", "parameter", "fact", "leftover",
}  # fmt: skip
_KEYS = ("key", "name", "label", "attribute", "property", "title", "term")
_VALUES = ("value", "text", "content", "description")


def fill_extra(
    fields: Sequence[Field], content: Content, link: FoundLink | None, filled: dict[str, Filled]
) -> dict[str, Filled]:
    """Return the field for everything else, if the schema has one, with the labelled texts that no field has taken.

    It is a list of pairs, or an object of texts; values are cut at 500 characters.
    """
    field = next((field for field in fields if any(set(phrase) & _EXTRA for phrase in field.phrases)), None)
    if field is None:
        return {}
    used = {str(one.fact.value) for one in filled.values()} | {str(one.value) for one in filled.values()}
    pairs = {label: text[:MAX_VALUE] for label, text in _left(content, link, used)}
    for value in _forms(dict(list(pairs.items())[:MAX_PAIRS])):
        if value and field.shape.accepts(value):
            label, text = next(iter(pairs.items()))
            return {field.name: Filled(value, Fact(label, text, "labelled"))}
    return {}


def _left(content: Content, link: FoundLink | None, used: set[str]) -> Iterator[tuple[str, str]]:
    stated: dict[tuple[str, ...], set[str]] = {}
    for label, text in content.labelled:
        stated.setdefault(split_words(label), set()).add(text)
    for label, text in content.labelled:
        if text not in used and len(stated[split_words(label)]) == 1:
            yield label, text
    pieces = link.row.splitlines() if link is not None else []
    rest = [piece for piece in map(str.strip, pieces) if piece and piece != (link.text if link else "")]
    rest = [piece for piece in rest if piece not in used and any(sign.isalnum() for sign in piece)]
    if rest:
        yield "list entry", " · ".join(rest)


def _forms(pairs: dict[str, str]) -> Iterator[Any]:
    """Yield the pairs in the forms that such a field may have."""
    yield pairs
    for key in _KEYS:
        for value in _VALUES:
            yield [{key: name, value: text} for name, text in pairs.items()]
    yield [f"{name}: {text}" for name, text in pairs.items()]
