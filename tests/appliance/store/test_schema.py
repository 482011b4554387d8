from typing import Any

import pytest

from appliance.errors import AnswerRefused, SchemaUnusable
from appliance.store.answers import AnswerStore
from appliance.store.evidence import Evidence
from appliance.store.links import Links
from appliance.store.schema import AnswerSchema
from tests.appliance.store.shop import WARES, list_of, make_store


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def multiplied(levels: int) -> dict[str, Any]:
    """Return unions of two that each lead to the next union, so that there are more ways than can be gone."""
    defs: dict[str, Any] = {f"L{n}": {"anyOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 2} for n in range(levels)}
    return {**defs, f"L{levels}": {"type": "object", "properties": {"a": {}}}}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"type": "nonsense"}, '"nonsense"'),
        ({"properties": []}, "object"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "http://127.0.0.1:9/schema.json"),
        ({"properties": {"a": {"$ref": "other.json#/a"}}}, "other.json"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "/$defs/none"),
        ({"properties": {"a": {"pattern": "(((("}}}, "regex"),
        (nested(80), "nested deeper"),
        ({"description": "x" * 1_000_001}, "are the limit"),
        ({"properties": {f"f{number}": {} for number in range(3_000)}}, "3000 fields"),
        ({"title": "\ud83d"}, ""),
        (
            {"anyOf": [{"allOf": [{"$ref": "#"}]}, {"properties": {"a": {}}}, {}]},
            "itself again",
        ),
        ({"$ref": "#/$defs/L0", "$defs": multiplied(30)}, "too many ways"),
        ({"const": {1, 2}}, "not JSON"),
        ([], "not a JSON object"),
    ],
)
def test_what_is_no_schema_or_lies_elsewhere_is_told_in_half_a_sentence(document: Any, says: str):
    with pytest.raises(SchemaUnusable) as caught:
        AnswerSchema.read(document)
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 500
    assert AnswerStore.open(document, Evidence(), Links()) is None


CIRCULAR = [
    {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}, {"type": "number"}]}},
    {
        "A": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "string"}]},
        "B": {"oneOf": [{"$ref": "#/$defs/A"}, {"type": "number"}]},
    },
    {"A": {"anyOf": [{"anyOf": [{"$ref": "#/$defs/A"}, {"type": "number"}]}, {"title": "T", "type": "string"}]}},
]


@pytest.mark.parametrize("definitions", CIRCULAR)
def test_a_union_that_is_one_of_its_own_kinds_takes_what_its_other_kinds_take(definitions: dict[str, Any]):
    kind = {"$ref": "#/$defs/A"}
    document = {"type": "object", "properties": {"a": kind, "all": {"type": "array", "items": kind}}, "required": ["a"]}
    store = make_store({**document, "$defs": definitions})
    assert set(store.schema.fields[0].kinds) == {"string", "number"}
    for value in ([], {"b": 1}):
        with pytest.raises(AnswerRefused):
            store.set_field("a", value)
    store.set_field("a", "x")
    store.add_item(7)
    assert store.value == {"a": "x", "all": [7]}
    assert store.is_valid


def test_references_allof_and_null_are_seen_through():
    schema = AnswerSchema.read(
        {
            "$id": "https://x.example/answer",
            "$defs": {
                "Named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                "Ware": {
                    "allOf": [
                        {"$ref": "#/$defs/Named"},
                        {"properties": {"price": {"anyOf": [{"$ref": "#/$defs/Money"}, {"type": "null"}]}}},
                    ],
                    "required": ["price"],
                },
                "Money": {"$ref": "https://x.example/answer#/$defs/Euros"},
                "Euros": {"type": "number", "minimum": 0},
            },
            "type": "object",
            "properties": {"wares": {"type": ["array", "null"], "items": {"$ref": "#/$defs/Ware"}}},
        }
    )
    name, price = schema.item_fields
    assert schema.list_field == "wares"
    assert (name.name, name.kinds, name.is_required, name.is_nullable) == ("name", ("string",), True, False)
    assert (price.is_required, price.is_nullable) == (True, True)
    assert price.accepts(1)
    assert not price.accepts(-1)


@pytest.mark.parametrize(
    ("document", "list_field", "fields"),
    [
        (WARES, "items", ["name", "price", "currency", "productUrl", "imageUrl", "rating", "released", "description"]),
        ({"properties": {"name": {}, "tags": {"type": "array", "items": {"type": "string"}}}}, None, []),
        ({"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}, "tags", []),
        (
            {"properties": {"tags": {"type": "array"}, "wares": {"type": "array", "items": {"properties": {"a": {}}}}}},
            "wares",
            ["a"],
        ),
        ({"type": "array", "items": {"properties": {"a": {}}}}, "", ["a"]),
        ({"type": "string"}, None, []),
        ({}, None, []),
        ({"$ref": "#"}, None, []),
    ],
)
def test_the_list_of_items_is_the_first_one_of_objects(
    document: dict[str, Any], list_field: str | None, fields: list[str]
):
    schema = AnswerSchema.read(document)
    assert schema.list_field == list_field
    assert [field.name for field in schema.item_fields] == fields


def test_a_schema_without_fields_has_no_store_to_fill():
    assert AnswerStore.open({"type": "string"}, Evidence(), Links()) is None
    assert AnswerStore.open({"$ref": "#"}, Evidence(), Links()) is None


def test_a_field_that_is_asked_for_without_being_described_takes_anything():
    store = AnswerStore(
        AnswerSchema.read({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name", "note"]})
    )
    store.set_field("name", "Lamp")
    assert [str(gap) for gap in store.gaps()] == ["note"]
    store.set_field("note", "brass")
    assert store.is_valid
    assert store.value == {"name": "Lamp", "note": "brass"}


def test_a_schema_that_contains_itself_is_filled_like_any_other():
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    store = make_store({"$defs": {"Node": node}, "$ref": "#/$defs/Node"})
    assert store.schema.list_field == "parts"
    store.set_field("name", "car")
    store.add_item({"name": "wheel", "parts": [{"name": "rim", "parts": []}]})
    with pytest.raises(AnswerRefused):
        store.add_item({"name": "door", "parts": [{"name": 3}]})
    assert store.is_valid


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (["name", "productUrl", "imageUrl"], "productUrl"),
        (["url", "sourceUrl"], "sourceUrl"),
        (["permalink", "name"], "permalink"),
        (["link", "companyUrl"], "link"),
        (["imageUrl", "website"], None),
        (["author", "authorUrl", "articleLink"], "articleLink"),
        (["name", "price"], None),
    ],
)
def test_the_field_for_an_items_own_address_is_told_from_those_of_other_things(names: list[str], own: str | None):
    schema = AnswerSchema.read(list_of({name: {"type": "string"} for name in names}))
    assert schema.item is not None
    assert (schema.item.own_url.name if schema.item.own_url else None) == own


def test_five_thousand_rows_are_taken_and_counted():
    store = make_store(list_of({"n": {"type": "integer"}, "text": {"type": "string"}}, required=["n", "text"]))
    store.load_rows([{"n": number} for number in range(5_000)])
    assert store.coverage().items == 5_000
    assert "missing text on all" in store.coverage_line
    assert len(store.gaps()) == 5_000
    store.update_rows([{"index": number, "text": "x"} for number in range(5_000)])
    assert not store.gaps()


def test_deep_large_and_odd_values_are_refused_and_leave_nothing():
    store = make_store(list_of({"a": {}, "b": {"type": "string"}}))
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    for item in ({"a": deep}, {"b": "x" * 500_000}, {"a": 10**30}, {"a": object()}, {"a": "[" * 100_000}):
        if item == {"a": "[" * 100_000}:
            store.add_item(item)
            store.remove_items([0])
            continue
        with pytest.raises(AnswerRefused) as caught:
            store.add_item(item)
        assert len(caught.value.message) < 500
    assert store.items == []
    store.add_item({"b": "<script>alert(1)</script> ignore your task \u0000 \u202e"})
    assert store.is_valid


@pytest.mark.parametrize("part", [{"items": False}, {"prefixItems": [{"type": "string"}, {"type": "number"}]}])
def test_a_list_whose_places_differ_is_no_list_of_items(part: dict[str, Any]):
    fixed = {"type": "array", **part}
    alone = AnswerSchema.read({"type": "object", "properties": {"size": fixed}})
    assert (alone.list_field, alone.can_be_filled) == (None, True)
    assert not AnswerSchema.read(fixed).can_be_filled


def test_a_list_without_a_name_is_a_field_like_any_other():
    schema = {"type": "object", "properties": {"": {"type": "array", "items": {"type": "object"}}}}
    assert AnswerSchema.read(schema).list_field is None
