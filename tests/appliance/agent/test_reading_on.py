"""Many pages read in several calls: what waits is told, goes on in later steps, and outlasts compaction and stops."""

import asyncio
import json
from pathlib import Path
from typing import Any

from appliance.events import ActionFinished, FeedEvent
from tests.appliance.agent.conftest import Finish, Prepare
from tests.site import Site

DONE = {"done": {"text": "All is read."}}


def urls(site: Site, count: int = 60) -> list[str]:
    return [site.url(f"/bulk/item?n={number}") for number in range(1, count + 1)]


def read(folder: Path, name: str) -> list[str]:
    return [page["url"] for page in json.loads((folder / "scratchpad" / name).read_text())]


async def test_what_is_beyond_one_call_is_read_in_the_next_step_also_after_a_compaction(finish: Finish, site: Site):
    between = [{"navigate": {"url": site.url(f"/shelf?item={number}")}} for number in range(1, 13)]
    steps: list[Any] = [{"read_pages": {"urls": urls(site)}}, *between, {"read_pages": {}}, DONE]
    outcome, work = await finish(steps, provider="compatible", window=6_000)
    assert outcome.is_successful, outcome.summary
    assert "compacted" in work.notices
    first, second = [receipt.text for receipt in work.receipts if receipt.name == "read_pages"]
    assert "Read 48 of 48" in first
    assert "12 more wait: read_pages without urls goes on with them." in first
    assert "Read 12 of 12" in second
    assert "more wait" not in second
    assert read(work.folder, "pages_1.json") == urls(site)[:48]
    assert read(work.folder, "pages.json") == urls(site)[48:]


async def test_an_end_in_the_second_call_leaves_what_was_read_and_what_waits(prepare: Prepare, site: Site):
    slow = [*urls(site, 52), *(site.url(f"/slow?seconds=5&n={number}") for number in range(8))]
    work = prepare([{"read_pages": {"urls": slow}}, {"read_pages": {}}, DONE])
    running = asyncio.create_task(work.agent.run())

    def is_first(event: FeedEvent) -> bool:
        return isinstance(event, ActionFinished)

    async with asyncio.timeout(120):
        while not any(map(is_first, work.events)):  # noqa: ASYNC110  (the site answers on threads of its own)
            await asyncio.sleep(0.05)
        while site.paths().count("/slow?seconds=5&n=0") < 1:  # noqa: ASYNC110  (the site answers on threads of its own)
            await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    links = work.agent.memory.links
    assert read(work.folder, "pages_1.json") == slow[:48]
    last = read(work.folder, "pages.json")
    assert set(last) <= set(slow[48:52])
    assert sorted([*last, *links.queue]) == sorted(slow[48:])
    assert links.read.issuperset(slow[:48])
