"""What the exhibits of the page zoo are worked with: words for the scripted model, and what the pages noted."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from appliance.events import ActionFinished
from appliance.words import ReceiptStatus
from tests.appliance.agent.moves import Action
from tests.site import Site

if TYPE_CHECKING:
    from tests.appliance.agent.conftest import Work

DONE = {"done": {"text": "It is done."}}
OK, NO_EFFECT, FAILED, BLOCKED, NEEDS_DECISION, SKIPPED = ReceiptStatus
LONGEST_WAIT = 20.0
"""Seconds for a note to arrive; it is sent before the run ends, so this only matters where nothing comes."""


@dataclass(frozen=True)
class Visit:
    """One run's way through the zoo; the pages note what really happened to them under its name."""

    site: Site
    name: str = field(default_factory=lambda: uuid4().hex)

    def open(self, page: str, more: str = "") -> Action:
        return {"navigate": {"url": self.site.url(f"/{page}.html?visit={self.name}{more}")}}

    @property
    def notes(self) -> list[str]:
        """What all documents of the visit noted, in the order in which it happened."""
        bodies = [seen.body for seen in self.site.requests if seen.path == f"/zoo_noted.txt?visit={self.name}"]
        return [note["said"] for note in sorted(map(json.loads, bodies), key=lambda note: note["at"])]

    async def noted(self, *expected: str) -> bool:
        """Wait for as many notes, and tell whether they are these and no others."""
        async with asyncio.timeout(LONGEST_WAIT):
            while len(self.notes) < len(expected):  # noqa: ASYNC110  (the site answers on threads of its own)
                await asyncio.sleep(0.01)
        assert self.notes == list(expected)
        return True


def click_labelled(label: str) -> Action:
    return {"click": {"index": {"label": label}}}


def enter(label: str, text: str) -> Action:
    return {"input": {"index": {"label": label}, "text": text}}


def choose(label: str, text: str | list[str]) -> Action:
    return {"select_dropdown": {"index": {"label": label}, "text": text}}


def answer(*, accept: bool) -> Action:
    return {"answer_dialog": {"accept": accept}}


def told(work: "Work", name: str) -> list[ActionFinished]:
    """The receipts in the feed of all actions of this name."""
    return [receipt for receipt in work.receipts if receipt.name == name]


def statuses(work: "Work", name: str) -> list[ReceiptStatus]:
    return [receipt.status for receipt in told(work, name)]
