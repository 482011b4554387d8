"""Merges what a session made of its copy of a jar into what the profile has become meanwhile: a pure function.

Only what the session changed or deleted is applied. Where both sides changed the same entry otherwise, the later change
wins and a conflict is recorded. A new expiry alone is no change, and a cookie that ran out was not deleted.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

import msgspec

from appliance.profiles.entries import Entry, EntryName, find_recordwise, put_together, take_apart, write_entry
from appliance.profiles.jar import Cookie, Jar


class Winner(StrEnum):
    """Whose entry stands after a conflict: the profile's (`theirs`) or the session's (`ours`)."""

    THEIRS = "theirs"
    OURS = "ours"


class Rule(StrEnum):
    """What decided a conflict."""

    LATER = "later"
    CHOSEN = "chosen"


@dataclass(frozen=True)
class Side:
    """A jar and the Unix time, in seconds, of its last real change."""

    jar: Jar
    changed_at: float


class Change(msgspec.Struct, frozen=True):
    """An entry that the merge changed, with what the profile had and has now; None where there is none."""

    name: EntryName
    before: str | None
    after: str | None


class Conflict(msgspec.Struct, frozen=True):
    """An entry that both sides changed, each otherwise; None where a side has none."""

    name: EntryName
    base: str | None
    theirs: str | None
    ours: str | None
    winner: Winner
    rule: Rule

    @property
    def key(self) -> str:
        """A short text that is the same for the same entry and says nothing of it."""
        return key_of(self.name)


@dataclass(frozen=True)
class Merged:
    """What came of a merge; changes and conflicts are in the order of their names."""

    jar: Jar
    changes: tuple[Change, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


T = TypeVar("T", Change, Conflict)
_NO_CHOICES: Mapping[str, Winner] = MappingProxyType({})


def merge(base: Jar, theirs: Side, ours: Side, choices: Mapping[str, Winner] = _NO_CHOICES) -> Merged:
    """Return `theirs` with what `ours` changed since `base`.

    `choices` decide conflicts, by their keys; without one the side whose last change is later wins, ours when both are
    of the same moment.
    """
    shapes = find_recordwise(base, theirs.jar, ours.jar)
    before, current, own = (take_apart(jar, frozenset(shapes)) for jar in (base, theirs.jar, ours.jar))
    work = _Work(before, current, own, (theirs.changed_at, ours.changed_at), choices)
    work.decide()
    if not work.changes and not work.renewed:
        return Merged(theirs.jar, (), _sorted(work.conflicts))
    return Merged(put_together(work.result(), shapes), _sorted(work.changes), _sorted(work.conflicts))


def merge_by_hand(first: Jar, second: Jar, choices: Mapping[str, Winner]) -> Merged:
    """Return `first` (theirs) with what only `second` (ours) has; entries of both that differ are conflicts."""
    return merge(Jar(), Side(first, 0), Side(second, 0), choices)


def compare(before: Jar, after: Jar) -> tuple[Change, ...]:
    """Return what is different in `after`, new expiries included."""
    shapes = find_recordwise(before, before, after)
    old, new = (take_apart(jar, frozenset(shapes)) for jar in (before, after))
    names = [name for name, entry in new.items() if old.get(name) != entry] + [name for name in old if name not in new]
    return _sorted([Change(name, write_entry(old.get(name)), write_entry(new.get(name))) for name in names])


def key_of(name: EntryName) -> str:
    """Return a short text that is the same for the same entry and says nothing of it."""
    return hashlib.sha256(msgspec.json.encode(name)).hexdigest()[:24]


@dataclass
class _Work:
    """The entries of three jars, and what was decided about them."""

    before: dict[EntryName, Entry]
    theirs: dict[EntryName, Entry]
    ours: dict[EntryName, Entry]
    times: tuple[float, float]
    choices: Mapping[str, Winner]
    changes: list[Change] = field(default_factory=list[Change])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    renewed: dict[EntryName, Entry] = field(default_factory=dict[EntryName, Entry])
    taken: dict[EntryName, Entry | None] = field(default_factory=dict[EntryName, Entry | None])

    def decide(self) -> None:
        """Decide about every entry in which ours differs from what it was before."""
        before, ours = self.before, self.ours
        differing = [name for name, entry in ours.items() if before.get(name) != entry]
        differing += [name for name in before if name not in ours]
        for name in differing:
            self._decide(name, before.get(name), self.theirs.get(name), ours.get(name))

    def result(self) -> dict[EntryName, Entry]:
        """Return the entries as they are after it."""
        entries = {**self.theirs, **self.renewed}
        for name, entry in self.taken.items():
            if entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        return entries

    def _decide(self, name: EntryName, before: Entry | None, theirs: Entry | None, ours: Entry | None) -> None:
        if theirs == ours:
            return
        if theirs is not None and ours is not None and _is_same(theirs, ours):
            self._renew(name, before, theirs, ours)
        elif _is_change(before, ours, self.times[1]):
            if not _is_change(before, theirs, self.times[0]):
                self._take(name, theirs, ours)
            else:
                self._settle(name, before, theirs, ours)
        elif (theirs is None or theirs == before) and not _is_change(before, theirs, self.times[0]):
            # It ran out on one side; the other one has renewed it, or never looked.
            self._take(name, theirs, ours)

    def _renew(self, name: EntryName, before: Entry | None, theirs: Entry, ours: Entry) -> None:
        """Keep the expiry that only one side changed, or else the later one."""
        if not isinstance(theirs, Cookie) or not isinstance(ours, Cookie):
            return
        if theirs == before or (ours != before and ours.expires > theirs.expires):
            self.renewed[name] = ours

    def _settle(self, name: EntryName, before: Entry | None, theirs: Entry | None, ours: Entry | None) -> None:
        chosen = self.choices.get(key_of(name)) if self.choices else None
        winner = chosen or (Winner.OURS if self.times[1] >= self.times[0] else Winner.THEIRS)
        texts = (write_entry(before), write_entry(theirs), write_entry(ours))
        self.conflicts.append(Conflict(name, *texts, winner, Rule.LATER if chosen is None else Rule.CHOSEN))
        if winner is Winner.OURS:
            self._take(name, theirs, ours)

    def _take(self, name: EntryName, theirs: Entry | None, ours: Entry | None) -> None:
        self.taken[name] = ours
        self.changes.append(Change(name, write_entry(theirs), write_entry(ours)))


def _is_change(before: Entry | None, after: Entry | None, time: float) -> bool:
    """Say whether a side changed the entry: neither a new expiry nor running out by `time` is a change."""
    if before is None or after is None:
        has_run_out = isinstance(before, Cookie) and after is None and -1 != before.expires <= time
        return before is not after and not has_run_out
    return not _is_same(before, after)


def _is_same(first: Entry, second: Entry) -> bool:
    if isinstance(first, Cookie) and isinstance(second, Cookie):
        return first == second or msgspec.structs.replace(first, expires=second.expires) == second
    return first == second


def _sorted(found: list[T]) -> tuple[T, ...]:
    return tuple(sorted(found, key=lambda one: tuple(map(str, one.name))))
