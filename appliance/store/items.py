"""The items of an answer: none twice, none copied from a list unread, states counted as they change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from appliance.errors import AnswerRefused
from appliance.store.coercion import read_json
from appliance.store.coverage import FieldCoverage, Tally
from appliance.store.guards import MAX_STUBS, Guards
from appliance.store.rows import Origin, Row, is_filled, state_of, written
from appliance.store.schema import ObjectShape

MAX_ROWS = 20_000
MAX_ROW_BYTES = 400_000
PLAIN = ""
"""The one field of a row whose item is a plain value."""
_NAMED = 5


@dataclass(frozen=True)
class Batch:
    """What came of many writes: how many were taken, and the first defects by their place in the batch."""

    taken: int
    given: int
    refused: tuple[str, ...]
    links: tuple[str, ...]

    @property
    def text(self) -> str:
        """What was refused, in one sentence; empty when nothing was."""
        if not self.refused:
            return ""
        count = self.given - self.taken
        more = f"; and {count - len(self.refused)} more" if count > len(self.refused) else ""
        return f"Refused {count}: {'; '.join(one.rstrip('.') for one in self.refused)}{more}."


class Items:
    """The rows of a list. `shape` is None for a list of plain values."""

    def __init__(self, shape: ObjectShape | None, guards: Guards) -> None:
        self.shape = shape
        self.rows: list[Row] = []
        self.refused: dict[str, dict[str, Any]] = {}
        self._guards = guards
        self._places: dict[int, int] = {}
        self._next_key = 1
        self._tally = Tally(shape.by_name if shape is not None else ())
        self._by_url: dict[str, list[Row]] = {}
        self._by_value: dict[bytes, Row] = {}
        self._stubs: set[int] = set()

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, index: int) -> Row:
        """Return the row of an index; raises AnswerRefused, saying which there are."""
        if not 0 <= index < len(self.rows):
            there = f"they are numbered 0 to {len(self.rows) - 1}" if self.rows else "there are no items yet"
            raise AnswerRefused(f"There is no item {index}; {there}.")
        return self.rows[index]

    def index_of(self, row: Row) -> int:
        """Return where a row stands."""
        return self._places[row.key]

    def append(self, value: dict[str, Any], page: str | None, origin: Origin) -> Row:
        """Append a checked item; raises AnswerRefused when it is there already or nothing of its page was read."""
        if len(self.rows) >= MAX_ROWS:
            raise AnswerRefused(f"There are {MAX_ROWS} items already, which is the limit; hand in the answer.")
        row = Row(self._next_key, {}, page)
        row.put(value, origin)
        self._check_size(row.value)
        self._check_new(row.value, None)
        self._check_stub(row.value)
        self._next_key += 1
        self.rows.append(row)
        self._places[row.key] = len(self.rows) - 1
        self._count(row)
        return row

    def put(self, row: Row, values: dict[str, Any], origin: Origin) -> None:
        """Set checked fields of a row; raises AnswerRefused when that makes it one that is there already."""
        after = {name: value for name, value in {**row.value, **values}.items() if value is not None}
        self._check_size(after)
        self._check_new(after, row)
        self._discount(row)
        row.put(values, origin)
        self._count(row)

    def mark(self, row: Row, name: str, reason: str) -> None:
        """Mark a field of a row as absent."""
        self._discount(row)
        row.put({name: None}, None)
        row.absent[name] = reason
        self._count(row)

    def remove(self, rows: Sequence[Row]) -> None:
        """Take rows out; those after them move up."""
        for row in rows:
            self._discount(row)
        gone = {row.key for row in rows}
        self.rows = [row for row in self.rows if row.key not in gone]
        self._places = {row.key: index for index, row in enumerate(self.rows)}

    def coverage(self, *, is_brief: bool = False) -> tuple[FieldCoverage, ...]:
        """Return the coverage of the fields; in brief, of long lists of items only the length is right."""
        required = self.shape.required if self.shape is not None else frozenset[str]()
        return self._tally.coverage(required, self._places, is_brief=is_brief)

    def written(self, row: Row) -> Any:
        """Return a row as it stands in the answer."""
        return row.value[PLAIN] if self.shape is None else written(self.shape, row)

    def text(self, row: Row) -> bytes:
        """Return a row as JSON text, made anew only when it changed."""
        if row.text is None:
            row.text = encode(self.written(row))
        return row.text

    def find(self, values: dict[str, Any]) -> Row | None:
        """Return the one row that has the same own address, id or title as the values; None without one."""
        if self.shape is None:
            return None
        for role in ("own_url", "uuid", "id", "title"):
            for name in (field.name for field in self.shape.fields if field.role == role and values.get(field.name)):
                same = [row for row in self.rows if row.value.get(name) == values[name]]
                if len(same) == 1:
                    return same[0]
        return None

    def _count(self, row: Row) -> None:
        self._by_value[_key(row.value)] = row
        if self.shape is None:
            return
        row.state = state_of(self.shape, row)
        self._tally.add(row.key, row.state)
        if url := self._own_url(row.value):
            self._by_url.setdefault(url, []).append(row)
            self.refused.pop(url, None)
        if self._guards.is_stub(self.shape, row.value):
            self._stubs.add(row.key)

    def _discount(self, row: Row) -> None:
        self._by_value.pop(_key(row.value), None)
        if self.shape is None:
            return
        self._tally.remove(row.key, row.state)
        if url := self._own_url(row.value):
            self._by_url[url].remove(row)
        self._stubs.discard(row.key)

    def _own_url(self, value: dict[str, Any]) -> str | None:
        return self.shape.own_url_of(value) if self.shape is not None else None

    def _check_size(self, value: dict[str, Any]) -> None:
        size = len(encode(value))
        if size > MAX_ROW_BYTES:
            raise AnswerRefused(f"The item has {size} bytes, and {MAX_ROW_BYTES} are the limit; shorten its texts.")

    def _check_new(self, value: dict[str, Any], itself: Row | None) -> None:
        """Raise AnswerRefused when another row is the same: of the same page, unless that states both, or in all."""
        same = self._by_value.get(_key(value))
        if same is not None and same is not itself and not _is_countable(value):
            raise AnswerRefused(f"Item {self.index_of(same)} is the very same; leave this one out.")
        url = self._own_url(value)
        others = [row for row in self._by_url.get(url, ()) if row is not itself] if url else []
        for other in others:
            if not self._are_both_stated(value, other.value, str(url)):
                index = self.index_of(other)
                raise AnswerRefused(
                    f"Item {index} has the address {url} already; use update_item with index {index} to change it, or "
                    "give this one its own address."
                )

    def _are_both_stated(self, one: dict[str, Any], other: dict[str, Any], url: str) -> bool:
        """Whether one page lists both items, each by another name: their address is then that of the list."""
        assert self.shape is not None
        names = [field.name for field in self.shape.fields if field.role in ("title", "id", "uuid")]
        names = names or [field.name for field in self.shape.fields if field.role == "text"]
        for name in names:
            if is_filled(one.get(name)) and is_filled(other.get(name)) and one[name] != other[name]:
                return self._guards.is_on(url, one[name]) and self._guards.is_on(url, other[name])
        return False

    def _check_stub(self, value: dict[str, Any]) -> None:
        if self.shape is None or not self._guards.is_stub(self.shape, value):
            return
        rows = [row for row in self.rows if row.key in self._stubs] if len(self._stubs) >= MAX_STUBS else []
        if sum(self._guards.is_stub(self.shape, row.value) for row in rows) >= MAX_STUBS:
            url = str(self._own_url(value))
            self.refused[url] = value
            raise AnswerRefused(
                f"{MAX_STUBS} items were written from a list alone already; read {url} first (read_pages takes many "
                "addresses at once) and add the item with what its page says."
            )


def take_each(items: Sequence[Any], take: Callable[[Any], None]) -> Batch:
    """Do one thing with each, going on after those that are refused."""
    refused: list[str] = []
    links: list[str] = []
    taken = 0
    for number, item in enumerate(items):
        try:
            take(item)
            taken += 1
        except AnswerRefused as error:
            links += error.links
            if len(refused) < _NAMED:
                refused.append(f"[{number}] {error.message}")
    return Batch(taken, len(items), tuple(refused), tuple(dict.fromkeys(links)))


def as_object(value: Any, what: str) -> dict[str, Any]:
    """Return an object, also one that is written as JSON text; raises AnswerRefused for anything else."""
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError as error:
            raise AnswerRefused(f"{what} must be an object with the schema's fields, and this is text.") from error
    if not isinstance(value, dict):
        raise AnswerRefused(f"{what} must be an object with the schema's fields, not {type(value).__name__}.")
    return cast("dict[str, Any]", value)


def encode(value: Any) -> bytes:
    """Return a value as JSON text."""
    return msgspec.json.encode(value)


def _key(value: dict[str, Any]) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _is_countable(value: dict[str, Any]) -> bool:
    """Whether the row is a plain number or truth, which may well stand in a list twice."""
    return isinstance(value.get(PLAIN), int | float)
