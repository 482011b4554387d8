"""Puts items into an answer's list as they are given: read, checked, with the page that they are from."""

from typing import Any, cast

from appliance.errors import AnswerRefused
from appliance.store.checking import Checker
from appliance.store.coercion import make_plain
from appliance.store.items import PLAIN, Items, as_object
from appliance.store.rows import Row, is_filled
from appliance.store.schema import AnswerSchema, ObjectShape
from appliance.store.tracing import Tracer

PAGE = "_page"
"""The key under which an item tells the address that it was drafted from."""


class Intake:
    """Writes the items of one answer; `items` are those it writes to."""

    def __init__(self, schema: AnswerSchema, checker: Checker, tracer: Tracer, items: Items) -> None:
        self.items = items
        self._schema = schema
        self._checker = checker
        self._tracer = tracer

    def append(self, item: Any) -> None:
        """Append an item, be it an object or a plain value; raises AnswerRefused."""
        shape, plain = self._schema.item, self._schema.plain_item
        if shape is None:
            assert plain is not None
            value = self._checker.check_plain(plain, _without_marks(item), None)
            self.items.append({PLAIN: value}, None, self._tracer.origin(None))
            return
        given, page = read_object(item, shape, "An item")
        seeds = {field.name: field.only_value for field in shape.fields if field.is_required and not shape.branches}
        seeds = {name: value for name, value in seeds.items() if value is not None and given.get(name) is None}
        values = self._checker.check(shape, {**given, **seeds}, {}, page)
        filled = {name: value for name, value in values.items() if value is not None}
        if not any(is_filled(value) for name, value in filled.items() if name not in seeds):
            names = ", ".join(list(shape.by_name)[:20])
            raise AnswerRefused(f"The item is empty; give what is known of its fields ({names}).")
        row = self.items.append(filled, page, self._tracer.origin(self._tracer.known(page or shape.own_url_of(filled))))
        for name in seeds:
            row.origins.pop(name, None)

    def update(self, row: Row, fields: Any) -> None:
        """Set fields of an item, or a plain one as a whole; raises AnswerRefused."""
        shape, plain = self._schema.item, self._schema.plain_item
        if shape is None:
            assert plain is not None
            value = cast("dict[str, Any]", fields).get("value") if isinstance(fields, dict) else fields
            self.items.put(row, {PLAIN: self._checker.check_plain(plain, value, None)}, self._tracer.origin(None))
            return
        given, page = read_object(fields, shape, "fields")
        if not given:
            raise AnswerRefused("No field was given; name the fields to be set.")
        values = self._checker.check(shape, given, row.value, page or row.page)
        near = page or row.page or shape.own_url_of({**row.value, **values})
        self.items.put(row, values, self._tracer.origin(self._tracer.known(near)))
        row.page = page or row.page

    def addressed(self, update: Any) -> tuple[Row, Any]:
        """Return the row that an update is for, and the fields to be set; raises AnswerRefused."""
        given = as_object(update, "An update")
        fields = given.get("fields", {name: value for name, value in given.items() if name not in ("index", "_index")})
        index = given.get("index", given.get("_index"))
        if isinstance(index, str) and index.isdigit():
            index = int(index)
        if isinstance(index, int) and not isinstance(index, bool):
            return self.items.row(index), fields
        row = self.items.find(as_object(fields, "fields")) if self._schema.item is not None else None
        if row is None:
            raise AnswerRefused("No item fits it; give its index, or the address, id or title it has.")
        return row, fields


def read_object(given: Any, shape: ObjectShape, what: str) -> tuple[dict[str, Any], str | None]:
    """Return the fields of an object that is given for the answer, and the page it was drafted from."""
    fields = make_plain(as_object(given, what))
    page = fields.get(PAGE)
    kept = {name: value for name, value in fields.items() if name in shape.by_name or not name.startswith("_")}
    return kept, page if isinstance(page, str) and page else None


def _without_marks(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {name: value for name, value in cast("dict[str, Any]", item).items() if not name.startswith("_")}
