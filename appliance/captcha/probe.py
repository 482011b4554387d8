"""Looks through every document of a tab for captchas; done only when one is to be solved, never while a page loads."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from appliance.browser.cdp import CdpError
from appliance.browser.effects import page_function
from appliance.browser.own_world import Document, documents_of, run_in_own_world
from appliance.browser.tab import Tab
from appliance.captcha.base import Clues, Found, Recognised, Traces
from appliance.captcha.registry import STRATEGIES, recognise
from appliance.errors import ActionFailed

SECONDS = 3.0


class _Shown(msgspec.Struct):
    """What the script tells of a document for one strategy."""

    elements: list[Found]
    addresses: list[str]
    sources: list[str]


class _Own(msgspec.Struct):
    """What the page's own scripts know."""

    values: dict[str, Any] = {}
    objects: dict[str, list[str]] = {}


async def find_captchas(tab: Tab) -> list[Recognised]:
    """Return the captchas in the tab, the one to begin with first; raises ActionFailed when the page cannot be read."""
    documents = await documents_of(tab)
    clues = [strategy.clues for strategy in STRATEGIES]
    told = await asyncio.gather(*(_traces(tab, document, documents, clues) for document in documents))
    return recognise(
        [(strategy, traces[place]) for place, strategy in enumerate(STRATEGIES) for traces in told if traces]
    )


async def _traces(tab: Tab, document: Document, documents: Sequence[Document], clues: Sequence[Clues]) -> list[Traces]:
    """Return what a document shows for each of the clues; nothing when a frame cannot be read now."""
    names = list(dict.fromkeys(name for one in clues for name in one.values))
    methods = list(dict.fromkeys(name for one in clues for name in one.objects))
    wanted = [msgspec.to_builtins(one) for one in clues]
    try:
        seen, known = await asyncio.gather(
            tab.run(page_function("captcha", "traces"), wanted, timeout=SECONDS, world=document.world),
            run_in_own_world(
                tab, document.world, page_function("captcha_own", "read"), names, methods, timeout=SECONDS
            ),
        )
        shown, own = msgspec.convert(seen, list[_Shown]), msgspec.convert(known, _Own)
    except (CdpError, ActionFailed, msgspec.ValidationError):
        if document.is_page:
            raise ActionFailed("The page cannot be searched for a captcha now; look at it again.") from None
        return []
    inner = [one.url for one in documents if one.around and one.around[0].world == document.world]
    return [_of_one(document, one, clue, own, inner) for one, clue in zip(shown, clues, strict=True)]


def _of_one(document: Document, shown: _Shown, clue: Clues, own: _Own, inner: Sequence[str]) -> Traces:
    # Frames that stand in closed shadow roots are known to the browser alone.
    frames = [url for url in inner if any(re.search(pattern, url, re.IGNORECASE) for pattern in clue.addresses)]
    return Traces(
        document,
        tuple(shown.elements),
        tuple(dict.fromkeys([*frames, *shown.addresses])),
        tuple(shown.sources),
        {name: own.values[name] for name in clue.values if name in own.values},
        {name: tuple(own.objects.get(name, ())) for name in clue.objects},
    )
