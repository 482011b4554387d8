"""Keeps what actions read off the open page as evidence for the answer, and counts what was looked at."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, cast

from appliance.actions.base import ActionContext, Receipt
from appliance.store.evidence import Sighting
from appliance.words import ReceiptStatus

LOOKING = frozenset(
    {
        *("look", "search_page", "find_elements", "find_text", "extract", "find_links", "read_pages", "evaluate"),
        *("http_fetch", "run_code_file"),
    }
)
"""Actions after which it counts that something was looked for, also when it was not there."""


def note_look(context: ActionContext, name: str, receipt: Receipt) -> None:
    """Count an action that looked at the open page, when there is an answer that this matters for."""
    if context.store is not None and name in LOOKING and receipt.status is ReceiptStatus.OK:
        context.evidence.look(context.sensitive.redact(context.browser.tab.url))


def keep_read(context: ActionContext, texts: Iterable[str], links: Iterable[str] = ()) -> None:
    """Keep what was read off the open page: its texts, and addresses that it has byte for byte."""
    if context.store is None:
        return
    redact = context.sensitive.redact
    url, text = redact(context.browser.tab.url), redact("\n".join(texts))
    known = frozenset(redact(link) for link in links)
    context.evidence.see(Sighting(url, text, datetime.now(UTC), known, context.step, context.screenshot))


def keep_read_at(context: ActionContext, url: str, texts: Iterable[str]) -> None:
    """Keep texts that were read at an address, of which there is no picture."""
    redact = context.sensitive.redact
    text = redact("\n".join(texts))
    if text.strip():
        context.evidence.see(Sighting(redact(url), text, datetime.now(UTC), step=context.step))


def texts_beyond(value: Any, code: str) -> Iterator[str]:
    """Yield the texts and numbers of a value that the code which made it does not say itself."""
    if isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from texts_beyond(inner, code)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from texts_beyond(inner, code)
    elif value is not None and not isinstance(value, bool):
        text = value if isinstance(value, str) else json.dumps(value)
        if text and text not in code:
            yield text
