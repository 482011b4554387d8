import json
import re
from dataclasses import replace
from typing import Any, cast

import jsonschema_rs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.errors import AnswerRefused
from appliance.store.answers import AnswerStore
from appliance.store.coverage import Absence, FieldState, count_over
from appliance.store.evidence import Evidence
from tests.appliance.store.shop import WARES, make_store, read_shop, ware_url

NAMES = ("name", "price", "currency", "productUrl", "imageUrl", "rating", "released", "description", "extra", "_page")
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 20),
    st.floats(),
    st.sampled_from(
        ["Lamp 0", "Lamp 1", "EUR", "usd", "12.5", "1,234.50", "2020-05-05", "", "null", "n/a", "\ud83d", "x" * 130]
    ),
    st.integers(0, 12).map(ware_url),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
ITEMS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6) | VALUES
GOOD = st.fixed_dictionaries(
    {"name": st.sampled_from(["Lamp 0", "Lamp 1", "Lamp 2"]), "price": st.integers(1, 50)},
    optional={"rating": st.sampled_from([None, 4.5]), "productUrl": st.integers(0, 4).map(ware_url)},
)
INDEX = st.integers(-1, 4)
WRITES = st.one_of(
    st.tuples(st.just("add_item"), GOOD | ITEMS),
    st.tuples(st.just("add_item"), GOOD),
    st.tuples(st.just("load_rows"), st.lists(GOOD | ITEMS, max_size=3)),
    st.tuples(st.just("update_item"), INDEX, GOOD | ITEMS),
    st.tuples(st.just("update_items"), st.lists(st.fixed_dictionaries({"index": INDEX, "fields": ITEMS}), max_size=3)),
    st.tuples(st.just("update_rows"), st.lists(GOOD, max_size=2)),
    st.tuples(st.just("set_field"), st.sampled_from(["total", "shop", "items", "name", "nothing"]), VALUES),
    st.tuples(st.just("set_field"), st.just("items"), st.lists(GOOD, max_size=2)),
    st.tuples(st.just("remove_items"), st.lists(INDEX, max_size=3)),
    st.tuples(
        st.just("mark_absent"),
        st.sampled_from([*NAMES, "total", "items"]),
        st.sampled_from(["looked", ""]),
        st.none() | INDEX | st.lists(INDEX, max_size=2),
    ),
    st.tuples(st.just("note_bounce")),
)
VALIDATOR = jsonschema_rs.validator_for(WARES)


def state(store: AnswerStore) -> Any:
    pointers = sorted(store.provenance())
    coverage = replace(store.coverage(), refused=0)
    return json.dumps(store.value), coverage, pointers, store.is_touched, store.refused_items


def from_scratch(store: AnswerStore) -> Any:
    """Return the coverage of the items as it follows from the answer alone."""
    fields = WARES["properties"]["items"]["items"]["properties"]
    required = frozenset(WARES["properties"]["items"]["items"]["required"])
    states: list[FieldState] = []
    for row in store._items.rows:
        filled = frozenset(name for name, value in row.value.items() if value not in (None, "", [], {}))
        gone = frozenset(row.absent)
        states.append(FieldState(filled, gone, required - filled - gone))
    return count_over(list(fields), required, states)


def resolve(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(WRITES, max_size=14), st.booleans())
def test_whatever_is_written_the_answer_holds_the_schemas_fields_and_counts_right(
    writes: list[tuple[Any, ...]], has_read: bool
):
    store = make_store(evidence=read_shop() if has_read else Evidence())
    for name, *arguments in writes:
        before = state(store)
        try:
            getattr(store, name)(*arguments)
        except AnswerRefused as error:
            assert error.message
            refused = store.refused_items
            assert state(store)[:-1] == before[:-1]
            assert len(refused) >= len(before[-1])
        value = cast("dict[str, Any]", store.value)
        assert set(value) <= set(WARES["properties"])
        assert all(set(row) <= set(WARES["properties"]["items"]["items"]["properties"]) for row in value["items"])
        assert json.loads(store.to_json()) == value
        assert store.coverage().item_fields == from_scratch(store)
        assert store.coverage_line == store.coverage().line
        for pointer in store.provenance():
            resolve(value, pointer)
    if store.is_valid:
        assert VALIDATOR.is_valid(store.value)
    if not store.gaps() and not any(isinstance(one, Absence) for one in store.provenance().values()):
        assert store.is_valid, store.defects()


@settings(max_examples=60, deadline=None)
@given(st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=20))
def test_no_value_whatever_makes_a_write_fail_otherwise_than_by_a_refusal(value: Any):
    schema = {"type": "object", "properties": {"a": {}, "b": {"type": "string"}, "c": {"type": "object"}, "d/~": {}}}
    store = make_store(schema)
    for field in ("a", "b", "c", "d/~"):
        try:
            store.set_field(field, value)
        except AnswerRefused as error:
            assert re.search(r"\w", error.message)
        assert json.loads(store.to_json()) == store.value
        assert store.is_valid
