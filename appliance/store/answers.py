"""The answer of a run while it is filled in: every write is checked, and changes all that it says or nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from appliance.errors import AnswerRefused, SchemaUnusable
from appliance.store.absences import Absences
from appliance.store.checking import Checker
from appliance.store.coercion import make_plain
from appliance.store.coverage import Absence, Coverage, FieldCoverage, Gap, count_over
from appliance.store.defects import defects_of
from appliance.store.evidence import Evidence, Provenance
from appliance.store.guards import Guards
from appliance.store.intake import Intake, read_object
from appliance.store.items import Batch, Items, encode, take_each
from appliance.store.links import Links
from appliance.store.pointers import escape
from appliance.store.rows import Row, state_of, written
from appliance.store.schema import AnswerSchema
from appliance.store.tracing import Tracer

MAX_DEFECTS = 5


@dataclass(frozen=True)
class Written:
    """What a write did, in one sentence, and what is there and missing after it."""

    text: str
    coverage_line: str


class AnswerStore:
    """The answer; its items are counted from 0.

    Items are objects with the schema's fields; keys of theirs that begin with an underscore (`_page`: the address
    that the item was drafted from) are never part of the answer. Every write raises AnswerRefused, saying what is
    wrong and what to do, and has changed nothing then. `writes` counts those that were taken.
    `seeded` are the schema's own values that it began with.
    """

    def __init__(self, schema: AnswerSchema, evidence: Evidence | None = None, links: Links | None = None) -> None:
        self.schema = schema
        self.evidence = evidence if evidence is not None else Evidence()
        self.links = links if links is not None else Links()
        self.writes = 0
        self._list = schema.list_field
        own = tuple(field for field in schema.fields if field.name != schema.list_field)
        self._shape = replace(schema.root, fields=own)
        self._guards = Guards(self.evidence, self.links)
        self._checker = Checker(self._guards)
        self._absences = Absences(self._guards, self.evidence)
        self._tracer = Tracer(self.evidence)
        self._root = Row(0, {})
        self._intake = Intake(schema, self._checker, self._tracer, Items(schema.item, self._guards))
        self._list_absence: str | None = None
        self._is_list_given = False
        self.evidence.before_forgetting.append(self._trace_all)
        self.seeded = self._seed()

    @classmethod
    def open(cls, document: dict[str, Any], evidence: Evidence, links: Links) -> "AnswerStore | None":
        """Return the store for a schema; None when there is nothing to be filled in field by field."""
        try:
            schema = AnswerSchema.read(document)
        except SchemaUnusable:
            return None
        return cls(schema, evidence, links) if schema.can_be_filled else None

    @property
    def is_touched(self) -> bool:
        """Whether anything was written into it."""
        return self.writes > 0

    @property
    def items(self) -> list[Any]:
        """The items as they stand in the answer."""
        return [self._items.written(row) for row in self._items.rows]

    @property
    def value(self) -> Any:
        """The answer as JSON, with fields of the schema only."""
        if self._list == "":
            return self.items
        answer = self._own_value()
        if self._has_list_value:
            answer[str(self._list)] = self._list_value()
        order = [field.name for field in self.schema.fields if field.name in answer]
        return {name: answer[name] for name in dict.fromkeys((*order, *answer))}

    @property
    def coverage_line(self) -> str:
        """What is there and missing, in one line."""
        return self._count(is_brief=True).line

    def coverage(self) -> Coverage:
        """Return what is there and missing."""
        return self._count(is_brief=False)

    def gaps(self) -> tuple[Gap, ...]:
        """Return what the schema requires and is neither filled nor marked absent."""
        return self.coverage().gaps

    @property
    def has_items(self) -> bool:
        """Whether the answer has a list that items can be added to."""
        return self._list is not None or self._only_list() is not None

    def knows_link(self, url: str) -> bool:
        """Whether a page showed this address, byte for byte."""
        return self._guards.knows_link(url)

    @property
    def refused_items(self) -> tuple[dict[str, Any], ...]:
        """The items that were refused as long as nothing of their own pages was read, and are not there yet."""
        return tuple(self._items.refused.values())

    @property
    def is_valid(self) -> bool:
        """Whether the answer as it stands fits the schema."""
        return self.schema.whole.validator.is_valid(self.value)

    def defects(self) -> tuple[str, ...]:
        """Return what of the answer as it stands does not fit the schema, each in half a sentence."""
        return tuple(islice(defects_of(self.schema, self.value), MAX_DEFECTS))

    def breaches(self) -> tuple[str, ...]:
        """Return those of the defects that are not there because a value was marked absent: too few items, say."""
        absent = {pointer for pointer, source in self.provenance().items() if isinstance(source, Absence)}
        return tuple(islice(defects_of(self.schema, self.value, absent), MAX_DEFECTS))

    async def trace(self) -> None:
        """Find where the values were read, and let others have their turn again and again; spares `provenance` it."""
        for row in (self._root, *self._items.rows):
            for _ in self._tracer.portions(row):
                await asyncio.sleep(0)

    def provenance(self) -> dict[str, Provenance | Absence]:
        """Return where the values were read, or why they are absent, by JSON pointer; nothing of what was not found."""
        found: dict[str, Provenance | Absence] = {}
        self._trace(found, "", self._root)
        base = f"/{escape(self._list)}" if self._list else ""
        if self._list_absence is not None:
            found[base] = Absence(self._list_absence)
        for index, row in enumerate(self._items.rows):
            self._trace(found, f"{base}/{index}", row)
        return found

    def to_json(self) -> bytes:
        """Return the answer as JSON text; items that did not change are not written anew."""
        lines = b",\n".join(map(self._items.text, self._items.rows))
        rows = b"[\n" + lines + b"\n]" if lines else b"[]"
        if self._list == "":
            return rows + b"\n"
        parts = [encode(name) + b": " + encode(value) for name, value in self._own_value().items()]
        if self._has_list_value:
            parts.append(encode(self._list) + b": " + (rows if self._items.rows else encode(self._list_value())))
        return b"{" + b",\n".join(parts) + b"}\n"

    def add_item(self, item: Any) -> Written:
        """Append one item."""
        if self._list is None and (name := self._only_list()) is not None:
            return self.set_field(name, [*self._root.value.get(name, []), item])
        self._append(item)
        return self._done(f"Added item {len(self._items) - 1}.")

    def load_rows(self, rows: Sequence[Any]) -> Written:
        """Append the items that can be taken; the others are named with the reason."""
        if self._list is None:
            return self._load_fields(rows)
        first = len(self._items)
        batch = take_each(rows, self._append)
        span = f", numbers {first} to {len(self._items) - 1}" if batch.taken else ""
        return self._batch_done(f"Added {batch.taken} of {len(rows)} items{span}.", batch)

    def update_item(self, index: int, fields: Any) -> Written:
        """Set fields of an item; null clears one."""
        self._intake.update(self._items.row(index), fields)
        return self._done(f"Updated item {index}.")

    def update_items(self, updates: Sequence[Any]) -> Written:
        """Set fields of several items, each update given as {"index": 3, "fields": {…}}; the good ones are taken."""
        return self._update_each(updates)

    def update_rows(self, rows: Sequence[Any]) -> Written:
        """Set fields of the items that the rows belong to: by their index, own address, id or title."""
        return self._update_each(rows)

    def set_field(self, field: str, value: Any) -> Written:
        """Set a field of the answer itself; for the list, all its items at once."""
        if self._list is not None and field == self._list:
            return self._set_list(value)
        if self._list == "":
            raise AnswerRefused("The answer is a list and has no fields of its own; use add_item or update_item.")
        item = self.schema.item
        if item is not None and field in item.by_name and field not in self._shape.by_name:
            raise AnswerRefused(f"{field} is a field of the items; use update_item with the item's index.")
        values = self._checker.check(self._shape, {field: make_plain(value)}, self._root.value, None)
        self._put(values)
        name = next(iter(values), field)
        return self._done(f"{'Cleared' if values.get(name) is None else 'Set'} {name}.")

    def remove_items(self, indices: Sequence[int]) -> Written:
        """Take items out; those after them move up."""
        rows = [self._items.row(index) for index in dict.fromkeys(indices)]
        if not rows:
            raise AnswerRefused("No index was given; name the items to be removed.")
        self._items.remove(rows)
        left = f", {len(self._items)} are left and numbered anew" if self._items.rows else ", none is left"
        return self._done(f"Removed {_counted(len(rows))}{left}.")

    def mark_absent(self, field: str, reason: str, index: int | Sequence[int] | None = None) -> Written:
        """Say that a value is not stated anywhere, once the pages that could state it were looked at.

        Without an index it is a field of the answer, or one of all the items that lack it.
        """
        reason = self._absences.check_reason(field, reason)
        if self._list is not None and field == self._list and index is None:
            return self._mark_list(reason)
        if index is None and field in self._shape.by_name:
            if field in self._root.state.filled:
                raise AnswerRefused(f"{field} is filled in; it is not absent. Clear it first if it is wrong.")
            self._absences.check_looked(field)
            self._put({field: None})
            self._root.absent[field] = reason
            self._root.state = state_of(self._shape, self._root)
            return self._done(f"Marked {field} absent.")
        rows = self._rows_to_mark(field, index)
        for row in rows:
            self._items.mark(row, field, reason)
        return self._done(f"Marked {field} absent on {_counted(len(rows))}.")

    def note_bounce(self) -> None:
        """Take note that the answer was sent back for what is missing."""
        self._absences.note_bounce()

    # What the above is made of.

    @property
    def _items(self) -> Items:
        return self._intake.items

    @property
    def _has_list_value(self) -> bool:
        if self._list is None:
            return False
        is_required = self._list in self.schema.root.required
        return bool(self._items.rows) or is_required or self._is_list_given or self._list_absence is not None

    def _list_value(self) -> Any:
        field = self.schema.root.by_name[str(self._list)]
        is_null = self._list_absence is not None and field.is_nullable
        return None if is_null and not self._items.rows else self.items

    def _own_value(self) -> dict[str, Any]:
        return written(self._shape, self._root)

    def _only_list(self) -> str | None:
        lists = [field.name for field in self.schema.fields if field.kinds == ("array",)]
        return lists[0] if len(lists) == 1 else None

    def _seed(self) -> dict[str, Any]:
        """Write the schema's own values: defaults, and what can be one thing only."""
        seeded: dict[str, Any] = {}
        for field in self._shape.fields:
            value = field.only_value
            if value is None:
                continue
            try:
                values = self._checker.check(self._shape, {field.name: make_plain(value)}, self._root.value, None)
            except AnswerRefused:
                continue  # a default that does not fit its own schema is no value
            self._root.put(values, None)
            seeded[field.name] = value
        self._root.state = state_of(self._shape, self._root)
        return seeded

    def _count(self, *, is_brief: bool) -> Coverage:
        fields = list(count_over(list(self._shape.by_name), self._shape.required, [self._root.state]))
        if self._list is not None and not self._items.rows:
            fields.append(self._empty_list())
        inner = self._items.coverage(is_brief=is_brief)
        return Coverage(len(self._items), inner, tuple(fields), self._list is not None, len(self._items.refused))

    def _empty_list(self) -> FieldCoverage:
        """Return the coverage of the list as long as it has no items: none may be the answer, if that is said."""
        is_required = self._list == "" or self._list in self.schema.root.required
        is_open = is_required and not self._is_list_given and self._list_absence is None
        absent = (0,) if self._list_absence is not None else ()
        return FieldCoverage(str(self._list), is_required, int(self._is_list_given), absent, (0,) if is_open else ())

    def _append(self, item: Any) -> None:
        if self._list is None:
            raise AnswerRefused("The answer has no list of items; use set_field for its fields.")
        self._intake.append(item)
        self._list_absence = None

    def _update_each(self, updates: Sequence[Any]) -> Written:
        batch = take_each(updates, lambda update: self._intake.update(*self._intake.addressed(update)))
        return self._batch_done(f"Updated {batch.taken} of {len(updates)} items.", batch)

    def _put(self, values: dict[str, Any], page: str | None = None) -> None:
        self._root.put(values, self._tracer.origin(page))
        self._root.state = state_of(self._shape, self._root)

    def _load_fields(self, rows: Sequence[Any]) -> Written:
        """Set the fields of an answer without a list from the one row there is."""
        if len(rows) != 1:
            raise AnswerRefused(f"The answer is one object and has no list; give one row, not {len(rows)}.")
        given, page = read_object(rows[0], self._shape, "The row")
        pairs = list(given.items())

        def take(pair: tuple[str, Any]) -> None:
            self._put(self._checker.check(self._shape, dict([pair]), self._root.value, page), page)

        batch = take_each(pairs, take)
        return self._batch_done(f"Set {batch.taken} of {len(pairs)} fields.", batch)

    def _set_list(self, value: Any) -> Written:
        if value is None or value == []:
            self._items.remove(self._items.rows)
            self._is_list_given = value is not None
            return self._done("Removed all items; there are none.")
        if not isinstance(value, list):
            raise AnswerRefused(f"{self._list or 'The answer'} is the list of items; give a list, or use add_item.")
        before = self._items
        self._intake.items = Items(self.schema.item, self._guards)
        batch = take_each(cast("list[Any]", value), self._append)
        if batch.refused:
            self._intake.items = before
            raise AnswerRefused(f"The list was not replaced. {batch.text}", links=batch.links)
        return self._done(f"Set {_counted(len(self._items))}.")

    def _mark_list(self, reason: str) -> Written:
        if self._items.rows:
            raise AnswerRefused(f"There are {len(self._items)} items; the list is not absent.")
        self._absences.check_looked(self._list or "the list")
        self._list_absence, self._is_list_given = reason, False
        return self._done("Marked the list of items absent.")

    def _rows_to_mark(self, field: str, index: int | Sequence[int] | None) -> list[Row]:
        """Return the rows on which a field is to be marked absent; raises AnswerRefused when that is not earned."""
        shape = self.schema.item
        if shape is None or field not in shape.by_name:
            names = ", ".join([*self._shape.by_name, *(shape.by_name if shape is not None else ())][:30])
            raise AnswerRefused(f"There is no field {field[:80]!r}; there are: {names}.")
        if index is None:
            rows = [row for row in self._items.rows if field not in row.state.filled | row.state.absent]
            if not rows:
                raise AnswerRefused(f"{field} is filled in or marked absent on every item already.")
        else:
            rows = [self._items.row(one) for one in dict.fromkeys([index] if isinstance(index, int) else index)]
            filled = [self._items.index_of(row) for row in rows if field in row.state.filled]
            if filled:
                raise AnswerRefused(f"{field} is filled in on item {filled[0]}; clear it first if it is wrong.")
        numbered = [(self._items.index_of(row), row) for row in rows]
        self._absences.check_looked(field)
        self._absences.check_pages(field, shape, numbered)
        if index is None:
            filled = sum(field in row.state.filled for row in self._items.rows)
            self._absences.check_not_partial(field, filled, [place for place, _ in numbered])
        return rows

    def _trace(self, found: dict[str, Provenance | Absence], base: str, row: Row) -> None:
        is_plain = row is not self._root and self.schema.item is None
        for name in row.origins:
            place = base if is_plain else f"{base}/{escape(name)}"
            found.update({place + inner: source for inner, source in self._tracer.trace(row, name).items()})
        there = self._own_value() if row is self._root else self._items.written(row)
        absent = {name: reason for name, reason in row.absent.items() if name in there}
        found.update({f"{base}/{escape(name)}": Absence(reason) for name, reason in absent.items()})

    def _trace_all(self) -> None:
        for row in (self._root, *self._items.rows):
            self._tracer.trace_row(row)

    def _batch_done(self, text: str, batch: Batch) -> Written:
        if not batch.taken and batch.given:
            raise AnswerRefused(f"Nothing was taken. {batch.text}", links=batch.links)
        return self._done(f"{text} {batch.text}".strip())

    def _done(self, text: str) -> Written:
        self.writes += 1
        return Written(text, self.coverage_line)


def _counted(count: int) -> str:
    return f"{count} item{'' if count == 1 else 's'}"
