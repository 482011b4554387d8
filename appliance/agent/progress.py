"""Whether a run gets anywhere, judged by receipts and by equal observations, and what follows when it does not."""

from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.agent.step import PlannedAction, Step
from appliance.browser.observation import Screenshot
from appliance.words import ReceiptStatus

NUDGE_AT = 3
REPLAN_AT = 5
GIVE_UP_AT = 8
_REMEMBERED_STEPS = 20
_MAX_FACTS = 4
_WAITING = ("wait", "wait_for")
_USELESS = frozenset({ReceiptStatus.NO_EFFECT, ReceiptStatus.FAILED, ReceiptStatus.BLOCKED})


@dataclass(frozen=True)
class _Try:
    """One call on one page: what the ladder counts and what it may bar."""

    url: str
    call: bytes


class Progress:
    """Counts, over the last steps, repeats of one thing on one page and steps that came to nothing.

    A repeated step counts whatever its receipts say, since the page it was done on neither read nor looked
    otherwise. A step comes to nothing when none of its actions had an effect, or when it got no usable reply; one
    that got somewhere takes two of those back. `count` is the worse of both: 3 is pointed out, at 5 what failed is
    barred, 8 is the end.
    """

    def __init__(self) -> None:
        self._tried: list[tuple[bytes, Screenshot | None]] = []
        self._fruitless = 0
        self._barred: set[_Try] = set()
        self.count = 0
        self.facts: tuple[str, ...] = ()

    @property
    def is_stuck(self) -> bool:
        """Whether the agent should be told that it gets nowhere."""
        return self.count >= NUDGE_AT

    @property
    def must_replan(self) -> bool:
        """Whether the agent may not go on as before: what came to nothing is barred on this page."""
        return self.count >= REPLAN_AT

    @property
    def is_hopeless(self) -> bool:
        """Whether the agent is to hand in what it has."""
        return self.count >= GIVE_UP_AT

    def note(self, step: Step) -> None:
        """Count a finished step."""
        repeats = self._count_repeats(step)
        done = [] if step.plan is None else list(zip(step.plan.actions, step.receipts, strict=False))
        statuses = {receipt.status for _, receipt in done} - {ReceiptStatus.SKIPPED}
        is_fruitless = statuses <= _USELESS
        self._fruitless += len(step.rejected) + is_fruitless
        if not is_fruitless and repeats < NUDGE_AT:
            self._fruitless = max(0, self._fruitless - 2)
            self._barred.clear()
        self.count = max(repeats, self._fruitless)
        tries = [action for action, receipt in done if repeats >= NUDGE_AT or receipt.status in _USELESS]
        self.facts = tuple(_told(action) for action in tries[:_MAX_FACTS]) if self.is_stuck else ()
        if self.must_replan and step.observation is not None:
            url = step.observation.url
            self._barred |= {_Try(url, _key(action)) for action in tries if action.call.name != "done"}

    def is_barred(self, action: PlannedAction, url: str) -> bool:
        """Whether this was tried too often at this address to be done again."""
        return bool(self._barred) and _Try(url, _key(action)) in self._barred

    def _count_repeats(self, step: Step) -> int:
        if step.plan is None or step.observation is None:
            return 0
        key = step.observation.fingerprint.encode() + b" " + b" ".join(map(_key, step.plan.actions))
        is_waiting = all(action.call.name in _WAITING for action in step.plan.actions)
        picture = None if is_waiting else step.observation.screenshot  # what moves by itself is nothing to wait for
        self._tried = [*self._tried[1 - _REMEMBERED_STEPS :], (key, picture)]
        return sum(before == key and _look_alike(seen, picture) for before, seen in self._tried)


def _look_alike(one: Screenshot | None, other: Screenshot | None) -> bool:
    """Whether two pictures are the same to a person, as far as both are known; drawings change in looks alone."""
    return one is None or other is None or not one.looks or one.looks_like(other)


def _key(action: PlannedAction) -> bytes:
    """Return what two calls have in common that try the same: spelling, order and waiting times do not count."""
    name, arguments = action.call.name, action.call.arguments
    given: dict[str, Any] = {key: value for key, value in arguments.items() if value is not None}
    if name == "wait":
        given = {}
    elif name == "wait_for":
        given.pop("seconds", None)
    elif name == "search" and isinstance(given.get("query"), str):
        given["query"] = sorted(set(given["query"].lower().split()))
    elif name == "input" and isinstance(given.get("text"), str):
        given["text"] = given["text"].strip().lower()
    return name.encode() + msgspec.json.encode(given, order="deterministic")


def _told(action: PlannedAction) -> str:
    arguments = msgspec.json.encode(action.call.arguments).decode()
    return f"{action.call.name} {arguments if len(arguments) <= 100 else arguments[:99] + '…'}"
