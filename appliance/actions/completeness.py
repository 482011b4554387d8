"""The gate before the end of a run: an answer with open fields goes back, with what is missing and what helps.

For links that were found and are not in the answer, and for refused items, it goes back once each: the agent may have
reasons. For fields that the schema requires it goes back until they are filled or marked absent, but not for ever:
three times without progress in between, and the run ends with what there is.
"""

import json
from collections.abc import Iterator
from typing import Any, cast

from appliance.actions.base import ActionContext
from appliance.actions.page_files import DRAFT_FILE, PAGES_FILE
from appliance.errors import ActionFailed
from appliance.store.answers import AnswerStore
from appliance.store.coverage import FieldCoverage
from appliance.store.evidence import Provenance
from appliance.store.kinship import kind_of

MAX_NAMED = 8
_MAX_FIELDS = 12
_MAX_SHOWN = 160
_MAX_PAGES = 4_000_000
_PAGE_KEYS = ("url", "title", "text", "row", "frame", "error")
_MAX_HINTS = 4


def what_lacks(context: ActionContext, store: AnswerStore) -> list[str]:
    """Return what stands between the answer and its end, a sentence each; nothing when it may end."""
    gate = context.gate
    found = open_fields(store)
    if not found and not store.is_touched:
        found.append("Nothing was written into the answer.")
    if not found:
        found += [f"The answer does not fit its schema: {defect}." for defect in store.breaches()]
    unlisted = _unlisted(context, store)
    if unlisted and not gate.told_links:
        gate.told_links = True
        items = len(store.items)
        named = "; ".join(unlisted[:MAX_NAMED])
        found.append(
            f"{len(unlisted)} of the links found are not in the answer, which has {items} item(s): {named}"
            f"{' …' if len(unlisted) > MAX_NAMED else ''}. Leave out what does not belong, and call done again."
        )
    refused = store.refused_items
    if len(refused) > gate.told_refused:
        gate.told_refused = len(refused)
        named = "; ".join(_shown(item) for item in refused[:MAX_NAMED])
        found.append(f"{len(refused)} item(s) were refused and are not in the answer: {named}.")
    return found


def open_fields(store: AnswerStore) -> list[str]:
    """Return which required fields are neither filled nor marked absent, a sentence for each of the first."""
    coverage = store.coverage()
    said = [_of_items(field) for field in coverage.item_fields if field.missing]
    said += [f"{field.name or 'The list'} is not set." for field in coverage.fields if field.missing]
    more = len(said) - _MAX_FIELDS
    return [*said[:_MAX_FIELDS], *([f"{more} more fields are missing."] if more > 0 else [])]


def _of_items(field: FieldCoverage) -> str:
    count = len(field.missing)
    named = ", ".join(map(str, field.missing[:MAX_NAMED]))
    more = f" and {count - MAX_NAMED} more" if count > MAX_NAMED else ""
    return f"{field.name} is missing on item{'' if count == 1 else 's'} {named}{more}."


def shortcuts(context: ActionContext, store: AnswerStore) -> list[str]:
    """Return which actions get the answer further, a sentence each."""
    found: list[str] = []
    files = {entry.name for entry in context.scratchpad.listing()}
    if waiting := len(context.links.queue):
        found.append(f"read_pages without urls reads the {waiting} page(s) that wait.")
    if DRAFT_FILE in files and store.has_items:
        action = "update_items_from_file" if store.items else "add_items_from_file"
        found.append(f'{action} {{"name": "{DRAFT_FILE}"}} takes what was drafted from the pages.')
    fields = {gap.field for gap in store.gaps()}
    if fields and PAGES_FILE in files and (keys := _captured(context, fields)):
        found.append(f"{PAGES_FILE} states {', '.join(keys)}.")
    panels = {link.frame for link in context.links.found if link.frame}
    if panels and context.links.queue:
        host = next(iter(panels)).split("/")[2:3]
        found.append(f"The links stand in a panel; read_pages has frame_url_contains for it ({''.join(host)}).")
    if fields:
        found.append(
            "What the pages do not state, mark_absent says with the reason, after you looked there; without index for "
            "all items that lack the field."
        )
    return found


def _unlisted(context: ActionContext, store: AnswerStore) -> list[str]:
    """Return the found links that no item comes from, when there are more of them than items.

    Once some are known that items come from, only those of the same kind count: a menu is no row of the list.
    """
    links = context.links
    if store.schema.list_field is None or store.schema.item is None:
        return []
    usable = [url for url in dict.fromkeys(link.url for link in links.found) if url not in links.dead]
    if len(usable) <= len(store.items):
        return []
    pages = (source.url for source in store.provenance().values() if isinstance(source, Provenance))
    listed = {*_texts(store.items), *pages}
    kinds = {kind_of(url) for url in usable if url in listed}
    return [url for url in usable if url not in listed and (not kinds or kind_of(url) in kinds)]


def _captured(context: ActionContext, fields: set[str]) -> list[str]:
    """Return keys of the pages' linked data that resemble the open fields, each with the field it may be."""
    keys = _stated(context)
    hints = [
        f"{key} (it may be {field})"
        for field in sorted(fields)
        for key in keys
        if key != field and (_resembles(key, field) or _resembles(field, key))
    ]
    return hints[:_MAX_HINTS]


def _stated(context: ActionContext) -> tuple[str, ...]:
    """Return the keys of the pages' linked data; a file of pages is read once as long as it stays as it is."""
    gate = context.gate
    try:
        status = context.scratchpad.path_of(PAGES_FILE).lstat()
        stamp = (status.st_mtime_ns, status.st_size)
        if gate.stated[0] != stamp:
            text = context.scratchpad.read(PAGES_FILE)
            pages: Any = json.loads(text) if len(text) <= _MAX_PAGES else []
            gate.stated = (stamp, tuple(dict.fromkeys(_keys(pages, 5))))
    except (ActionFailed, OSError, ValueError, RecursionError):
        return ()
    return gate.stated[1]


def _keys(value: Any, depth: int) -> Iterator[str]:
    """Yield the names that the linked data in a JSON value of pages has values for."""
    if isinstance(value, dict) and depth:
        for key, inner in cast("dict[str, Any]", value).items():
            if not key.startswith("@") and not isinstance(inner, dict | list) and key not in _PAGE_KEYS:
                yield key
            yield from _keys(inner, depth - 1)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _keys(inner, depth)


def _resembles(one: str, other: str) -> bool:
    """Whether one name is a good part of the other, however both are written."""
    plain, whole = ("".join(filter(str.isalnum, name)).lower() for name in (one, other))
    return len(plain) >= 4 and plain in whole


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _texts(inner)


def _shown(item: Any) -> str:
    text = json.dumps(item, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
