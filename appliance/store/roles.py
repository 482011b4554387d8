"""What a field is for, told from its name, type and format: the address of a page, an id, a date, a description."""

from collections.abc import Iterable
from typing import Literal

from appliance.store.facts import split_words

Role = Literal[
    "own_url", "url", "email", "uuid", "id", "date", "enum", "title", "description", "text", "number", "boolean",
    "list", "object", "any",
]  # fmt: skip
OWN_URL: Role = "own_url"
_URL_ENDINGS = {"url", "uri", "href", "link", "permalink"}
_URL_FORMATS = {"uri", "url", "iri", "uri-reference", "iri-reference", "http-url"}
_OWN_FIRST = ("source", "detail", "item", "page")
_NOT_OWN = {
    "image", "img", "photo", "picture", "thumbnail", "thumb", "logo", "icon", "video", "avatar", "cover", "banner",
    "pdf", "download", "document", "file", "attachment", "website", "homepage", "author", "maker", "brand", "seller",
    "company", "next", "previous", "prev", "media", "audio", "map", "social", "apply", "checkout", "cart", "api",
    "feed", "external",
}  # fmt: skip
_DESCRIPTIONS = {"description", "summary", "abstract", "body", "content", "detail", "bio", "overview", "review"}
_TITLES = {"title", "name", "headline", "heading", "label"}
_DATES = {"date", "datetime", "published", "updated", "modified", "deadline"}
_OTHER = {"number", "integer", "boolean", "array", "object"}


def role_of(name: str, kinds: tuple[str, ...], form: str | None, has_enum: bool) -> Role:
    """Return what a field is for, by itself: the address of its own page is told by `own_url_among`."""
    if has_enum:
        return "enum"
    if kinds and "string" not in kinds:
        return _role_of_kinds(kinds)
    if form is not None:
        return _role_of_format(form)
    return _role_of_name(split_words(name))


def own_url_among(fields: Iterable[tuple[str, Role]]) -> str | None:
    """Return the name of the field for the address of the object's own page, None when none is surely that.

    Names such as sourceUrl come first, then a bare link, a bare url, and at last one named after nothing else that
    the object has.
    """
    named = [(name, split_words(name), role) for name, role in fields]
    urls: list[tuple[str, tuple[str, ...]]] = [(name, words) for name, words, role in named if role == "url" and words]
    for wanted in _OWN_FIRST:
        found = next((name for name, words in urls if len(words) == 2 and words[0] == wanted), None)
        if found is not None:
            return found
    for bare in ("permalink", "href", "link", "url", "uri"):
        found = next((name for name, words in urls if words == (bare,)), None)
        if found is not None:
            return found
    others = {words for _, words, role in named if role != "url"}
    for name, words in urls:
        stem = tuple(word for word in words if word not in _URL_ENDINGS)
        if stem and stem not in others and not set(stem) & _NOT_OWN:
            return name
    return None


def _role_of_kinds(kinds: tuple[str, ...]) -> Role:
    if len(kinds) > 1 and set(kinds) != {"number", "integer"}:
        return "any"
    if "array" in kinds:
        return "list"
    if "object" in kinds:
        return "object"
    return "boolean" if "boolean" in kinds else "number"


def _role_of_format(form: str) -> Role:
    if form in _URL_FORMATS:
        return "url"
    known: dict[str, Role] = {"email": "email", "idn-email": "email", "uuid": "uuid", "date": "date"}
    return known.get(form, "date" if form == "date-time" else "text")


def _role_of_name(words: tuple[str, ...]) -> Role:
    last = words[-1] if words else ""
    if last in _URL_ENDINGS:
        return "url"
    by_end: dict[str, Role] = {"email": "email", "uuid": "uuid", "id": "id"}
    if last in by_end:
        return by_end[last]
    by_words: dict[Role, set[str]] = {"date": _DATES, "description": _DESCRIPTIONS, "title": _TITLES}
    for role, names in by_words.items():
        if last in names:
            return role
    return "text"
