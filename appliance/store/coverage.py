"""What of an answer is there and what is missing, kept up to date with every write."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_NAMED = 8
"""Items that a line names by number; of more it gives the count."""


@dataclass(frozen=True)
class Gap:
    """A field that the schema requires and that is neither filled nor marked absent; `index` None: of the answer."""

    index: int | None
    field: str

    def __str__(self) -> str:
        name = self.field or "the list of items"
        return name if self.index is None else f"{name} of item {self.index}"


@dataclass(frozen=True)
class Absence:
    """A value that was looked for and is not stated, and why that is said."""

    reason: str


@dataclass(frozen=True)
class FieldState:
    """Which fields of an object are filled, marked absent, and required but missing."""

    filled: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FieldCoverage:
    """One field: on how many items it is filled, on which it is absent and on which it is required and missing."""

    name: str
    is_required: bool
    filled: int
    absent: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """What is there of an answer: its items and their fields, and the fields of the answer itself.

    Of the answer's own fields, `filled` is 0 or 1 and the index is 0. `refused` counts items that were refused
    because nothing of their pages had been read.
    """

    items: int
    item_fields: tuple[FieldCoverage, ...]
    fields: tuple[FieldCoverage, ...]
    has_list: bool = False
    refused: int = 0

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What is required and missing, the items in their order, then the answer's own fields."""
        inner = sorted((index, place) for place, field in enumerate(self.item_fields) for index in field.missing)
        of_items = tuple(Gap(index, self.item_fields[place].name) for index, place in inner)
        return (*of_items, *(Gap(None, field.name) for field in self.fields if field.missing))

    @property
    def line(self) -> str:
        """The coverage in one line."""
        parts = [self._items_line()] if self.has_list else []
        if self.fields:
            parts.append(_fields_line(self.fields, "Top level: " if self.has_list else ""))
        return " ".join(part for part in parts if part)

    def _items_line(self) -> str:
        count = f"{self.items} item{'' if self.items == 1 else 's'}"
        if not self.items or not self.item_fields:
            return f"{count}."
        every = [field.name for field in self.item_fields if field.filled == self.items]
        some = [field for field in self.item_fields if 0 < field.filled < self.items]
        missing = [field for field in self.item_fields if field.missing]
        absent = [field for field in self.item_fields if field.absent]
        nowhere = [field.name for field in self.item_fields if not (field.filled or field.absent or field.missing)]
        parts = [
            f"{', '.join(every)} on all" if every else "",
            ", ".join(f"{field.name} {field.filled}/{self.items}" for field in some),
            ", ".join(f"missing {field.name}{self._on(field.missing)}" for field in missing),
            ", ".join(f"{field.name} absent{self._on(field.absent)}" for field in absent),
            f"{', '.join(nowhere)} on none" if nowhere else "",
        ]
        return f"{count}: {'; '.join(part for part in parts if part)}."

    def _on(self, indices: Sequence[int]) -> str:
        if len(indices) == self.items:
            return " on all"
        if len(indices) > MAX_NAMED:
            return f" on {len(indices)}"
        return f" on {', '.join(map(str, indices))}"


class Tally:
    """Counts the states of fields over many items, so that a change of one need not look at the others."""

    def __init__(self, names: Iterable[str]) -> None:
        self._filled = dict.fromkeys(names, 0)
        self._absent: dict[str, set[int]] = {name: set() for name in self._filled}
        self._missing: dict[str, set[int]] = {name: set() for name in self._filled}

    def add(self, key: int, state: FieldState) -> None:
        """Count the item of this key."""
        for name in state.filled:
            self._filled[name] += 1
        for name in state.absent:
            self._absent[name].add(key)
        for name in state.missing:
            self._missing[name].add(key)

    def remove(self, key: int, state: FieldState) -> None:
        """Take the item of this key out again, in the state it was counted in."""
        for name in state.filled:
            self._filled[name] -= 1
        for name in state.absent:
            self._absent[name].discard(key)
        for name in state.missing:
            self._missing[name].discard(key)

    def coverage(
        self, required: frozenset[str], places: dict[int, int], *, is_brief: bool = False
    ) -> tuple[FieldCoverage, ...]:
        """Return the fields; `places` says at which index the item of a key stands.

        In brief, of more items than a line names only their number is right.
        """

        def numbers(keys: set[int]) -> tuple[int, ...]:
            if is_brief and len(keys) > MAX_NAMED:
                return (0,) * len(keys)
            return tuple(sorted(places[key] for key in keys))

        return tuple(
            FieldCoverage(name, name in required, filled, numbers(self._absent[name]), numbers(self._missing[name]))
            for name, filled in self._filled.items()
        )


def count_over(
    names: Sequence[str], required: frozenset[str], states: Iterable[FieldState]
) -> tuple[FieldCoverage, ...]:
    """Return the coverage of the fields over all items, from scratch."""
    tally = Tally(names)
    places: dict[int, int] = {}
    for index, state in enumerate(states):
        tally.add(index, state)
        places[index] = index
    return tally.coverage(required, places)


def _fields_line(fields: Sequence[FieldCoverage], lead: str) -> str:
    filled = [field.name for field in fields if field.filled]
    absent = [field.name for field in fields if field.absent]
    unset = [field.name for field in fields if field.missing]
    free = [field.name for field in fields if not (field.filled or field.absent or field.missing)]
    groups = (("set", filled), ("absent", absent), ("unset", unset), ("left out", free))
    parts = [f"{', '.join(names)} {word}" for word, names in groups if names]
    return f"{lead}{'; '.join(parts)}." if parts else ""
