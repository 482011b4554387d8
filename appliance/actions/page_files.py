"""Writes what was read in bulk to files: pages.json, and the rows drafted from it, rows_draft.json."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from appliance.errors import ActionFailed
from appliance.store.pages import PageRead
from appliance.workspaces.scratchpad import MAX_FILE_BYTES, Scratchpad

PAGES_FILE = "pages.json"
DRAFT_FILE = "rows_draft.json"
TEXT_LIMITS = (60_000, 20_000, 6_000, 1_500)
"""Characters of text per page; the next smaller number counts when all pages together are too large for a file."""


def write_pages(scratchpad: Scratchpad, pages: Sequence[PageRead]) -> None:
    """Write the pages as [{url, title, text, jsonld, links}], those that could not be read as {url, error}.

    Where there is no room to keep the file of before under a number, its pages stay in this one. Raises ActionFailed
    when not even that can be written; the file of before is then as it was.
    """
    before = _set_aside_or_read(scratchpad)
    for limit in TEXT_LIMITS:
        text = json.dumps([*before, *(_entry(page, limit) for page in pages)], ensure_ascii=False)
        data = text.encode(errors="replace")
        if len(data) > MAX_FILE_BYTES and limit != TEXT_LIMITS[-1]:
            continue
        try:
            scratchpad.write_bytes(PAGES_FILE, data)
        except ActionFailed:
            if limit == TEXT_LIMITS[-1]:
                raise
            continue
        return


def _set_aside_or_read(scratchpad: Scratchpad) -> list[Any]:
    """Keep the file of before under a number; returns its pages instead where there is no room for another file."""
    try:
        set_aside(scratchpad, PAGES_FILE)
    except ActionFailed:
        try:
            before = json.loads(scratchpad.read(PAGES_FILE))
        except ValueError:
            raise ActionFailed(f"There is no room to keep the {PAGES_FILE} of before.") from None
        return cast("list[Any]", before) if isinstance(before, list) else [before]
    return []


def write_rows(scratchpad: Scratchpad, rows: Sequence[dict[str, Any]]) -> None:
    """Write the drafted rows."""
    set_aside(scratchpad, DRAFT_FILE)
    scratchpad.write(DRAFT_FILE, json.dumps(list(rows), ensure_ascii=False, indent=1))


def coverage_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return which fields the rows have, such as "name, sku on all; price 12/14"."""
    counts = Counter(name for row in rows for name in row if not name.startswith("_"))
    everywhere = [name for name, count in counts.items() if count == len(rows)]
    partly = [f"{name} {count}/{len(rows)}" for name, count in counts.items() if count < len(rows)]
    return "; ".join([*([f"{', '.join(everywhere)} on all"] if everywhere else []), *partly])


def _entry(page: PageRead, limit: int) -> dict[str, Any]:
    if page.content is None:
        return {"url": page.asked, "error": page.error}
    entry: dict[str, Any] = {
        "url": page.asked,
        "title": page.content.title,
        "text": page.text[:limit],
        "jsonld": list(page.content.linked_data),
        "links": [{"url": link.url, "text": link.text} for link in page.links],
    }
    if page.content.url != page.asked:
        entry["landed_on"] = page.content.url
    return entry


def set_aside(scratchpad: Scratchpad, name: str) -> str:
    """Keep what an earlier call wrote under a number, so that nothing is lost; returns the name, "" without a file."""
    names = {entry.name for entry in scratchpad.listing()}
    if name not in names:
        return ""
    stem = name.removesuffix(".json")
    number = next(number for number in range(1, len(names) + 2) if f"{stem}_{number}.json" not in names)
    scratchpad.write(f"{stem}_{number}.json", scratchpad.read(name))
    return f"{stem}_{number}.json"
