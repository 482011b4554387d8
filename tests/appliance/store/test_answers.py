import asyncio
import json
from typing import Any

import pytest

from appliance.errors import AnswerRefused
from appliance.store.coverage import Absence, Gap
from appliance.store.evidence import Evidence, Provenance
from tests.appliance.store.shop import AT, LIST, WARES, list_of, make_store, read_shop, see, ware_url

LAMP = {"name": "Lamp 0", "price": 10.5, "productUrl": ware_url(0)}


def refusal(write: Any, *arguments: Any) -> str:
    with pytest.raises(AnswerRefused) as caught:
        write(*arguments)
    return caught.value.message


def test_an_item_is_added_field_by_field_checked_and_told_with_what_is_missing():
    store = make_store()
    written = store.add_item({"name": " Lamp ", "price": "12.50"})
    assert written.text == "Added item 0."
    assert written.coverage_line == (
        "1 item: name, price on all; missing rating on all; currency, productUrl, imageUrl, released, description on "
        "none. Top level: total unset; shop left out."
    )
    assert store.value == {"items": [{"name": "Lamp", "price": 12.5, "rating": None}]}
    assert store.gaps() == (Gap(0, "rating"), Gap(None, "total"))
    store.update_item(0, {"rating": 4})
    store.set_field("total", 1)
    assert not store.gaps()
    assert store.is_valid
    assert store.value == {"items": [{"name": "Lamp", "price": 12.5, "rating": 4}], "total": 1}


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"nam": "Lamp"}, "there is no field 'nam'; did you mean name?"),
        ({"colour of it": "red"}, "there is no field 'colour of it'; there are name, price"),
        ({"name": "Lamp", "price": "about 12"}, "give a number such as 12.5, without unit or currency"),
        ({"name": "Lamp", "price": "1,234"}, "give a number such as 12.5"),
        ({"name": ["Lamp", "Desk"]}, 'is not of type "string"'),
        ({"name": "Lamp", "currency": "EURO"}, "is none of its choices (EUR, USD); the nearest is EUR"),
        ({"name": "Lamp", "released": "last May"}, "give a date as 2024-12-31"),
        ({"name": "Lamp", "released": "03/04/2024"}, "give a date as 2024-12-31"),
        ({"name": "Lamp", "price": float("nan")}, "nan is no JSON number"),
        ({}, "The item is empty; give what is known of its fields (name, price"),
        ({"rating": None}, "The item is empty"),
        ({"name": "null", "price": "n/a"}, "The item is empty"),
        ("Lamp", "must be an object with the schema's fields"),
        ([1], "must be an object"),
        (None, "must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_field_and_what_is_asked(item: Any, says: str):
    store = make_store()
    assert says in refusal(store.add_item, item)
    assert store.items == []
    assert not store.is_touched


def test_every_defect_of_an_item_is_told_at_once():
    message = refusal(make_store().add_item, {"nam": 1, "price": "x", "currency": "yen"})
    assert all(field in message for field in ("'nam'", "price:", "currency:"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"Name": "Lamp"}, {"name": "Lamp"}),
        ({"product_url": ware_url(0)}, {"productUrl": ware_url(0)}),
        ({"currency": " eur "}, {"currency": "EUR"}),
        ({"price": "1,234.50"}, {"price": 1234.5}),
        ({"price": "1.234,50"}, {"price": 1234.5}),
        ({"price": "1 234"}, {"price": 1234}),
        ({"price": "-3"}, {"price": -3}),
        ({"name": 42}, {"name": "42"}),
        ({"released": "5 May 2024"}, {"released": "2024-05-05"}),
        ({"released": "2024-05-05T10:00:00"}, {"released": "2024-05-05"}),
        ({"name": True}, {"name": "true"}),
        ({"rating": "n/a", "name": "Lamp"}, {"name": "Lamp"}),
        ({"rating": "null", "name": "Lamp"}, {"name": "Lamp"}),
        ({"name": "None"}, {"name": "None"}),
        ({"name": "N/A"}, {"name": "N/A"}),
        ({"name": "half \ud83d"}, {"name": "half \ufffd"}),
    ],
)
def test_values_are_read_as_meant_where_that_changes_nothing(given: dict[str, Any], kept: dict[str, Any]):
    store = make_store(list_of(WARES["properties"]["items"]["items"]["properties"], additionalProperties=False))
    store.add_item(given)
    assert store.items == [kept]


def test_lists_and_objects_may_be_written_as_json_text_and_a_lone_value_is_a_list_of_it():
    schema = list_of(
        {"tags": {"type": "array", "items": {"type": "string"}}, "size": {"type": "object"}, "n": {"type": "boolean"}}
    )
    store = make_store(schema)
    store.add_item('{"tags": "[\\"a\\", \\"b\\"]", "size": "{\\"w\\": 1}", "n": "yes"}')
    store.add_item({"tags": "a"})
    assert store.items == [{"tags": ["a", "b"], "size": {"w": 1}, "n": True}, {"tags": ["a"]}]
    assert "give a list" in refusal(store.add_item, {"tags": "[1, 2"})


def test_a_batch_takes_the_good_items_and_names_the_bad():
    store = make_store()
    written = store.load_rows([{"name": "A"}, {"nam": "B"}, {"name": "C", "price": "x"}, {"name": "D"}])
    assert [row["name"] for row in store.items] == ["A", "D"]
    assert written.text.startswith("Added 2 of 4 items, numbers 0 to 1. Refused 2: [1] there is no field 'nam'")
    assert "[2] price:" in written.text
    written = store.update_items(
        [{"index": 0, "fields": {"price": 1}}, {"index": 9, "price": 2}, {"index": "1", "price": 3}]
    )
    assert [row.get("price") for row in store.items] == [1, 3]
    assert "There is no item 9; they are numbered 0 to 1" in written.text
    assert "Nothing was taken. Refused 1" in refusal(store.load_rows, [{"nam": 1}])
    assert store.load_rows([]).text == "Added 0 of 0 items."


def test_rows_from_a_file_find_their_items_by_index_address_or_title():
    store = make_store()
    store.load_rows([{"name": "A", "productUrl": ware_url(1)}, {"name": "B"}])
    store.update_rows([{"productUrl": ware_url(1), "price": 1}, {"name": "B", "price": 2}, {"_index": 0, "rating": 3}])
    assert [(row["price"], row["rating"]) for row in store.items] == [(1, 3), (2, None)]
    assert "No item fits it" in refusal(store.update_rows, [{"name": "C", "price": 1}])


def test_indices_follow_when_items_are_removed_and_unknown_ones_are_refused():
    store = make_store()
    store.load_rows([{"name": name} for name in "ABCD"])
    store.update_item(3, {"rating": 5})
    assert store.remove_items([0, 2, 0]).text == "Removed 2 items, 2 are left and numbered anew."
    assert [row["name"] for row in store.items] == ["B", "D"]
    assert [gap for gap in store.gaps() if gap.field == "rating"] == [Gap(0, "rating")]
    assert "There is no item 2; they are numbered 0 to 1." in refusal(store.remove_items, [0, 2])
    assert "No index was given" in refusal(store.remove_items, [])
    assert len(store.items) == 2


def test_null_clears_a_field_and_an_empty_value_does_not_fill_one():
    store = make_store()
    store.add_item({"name": "A", "price": 1, "rating": 2})
    store.update_item(0, {"price": None, "rating": ""})
    assert store.gaps()[:2] == (Gap(0, "price"), Gap(0, "rating"))
    assert store.value["items"] == [{"name": "A", "rating": None}]


def test_an_item_that_is_there_already_is_refused_by_name():
    store = make_store()
    store.add_item(LAMP)
    assert refusal(store.add_item, dict(LAMP)).startswith("Item 0 is the very same")
    assert "Item 0 has the address" in refusal(store.add_item, {**LAMP, "name": "Other"})
    store.add_item({**LAMP, "name": "Lamp 1", "productUrl": ware_url(1)})
    assert "Item 0 has the address" in refusal(store.update_item, 1, {"productUrl": ware_url(0)})
    assert store.items[1]["productUrl"] == ware_url(1)


def test_items_of_one_page_that_states_both_may_share_its_address():
    evidence = Evidence()
    see(evidence, "https://q.example/", "Ada: To be. Bob: Not to be.", "https://q.example/")
    store = make_store(list_of({"name": {"type": "string"}, "sourceUrl": {"type": "string"}}), evidence)
    store.load_rows(
        [{"name": "Ada", "sourceUrl": "https://q.example/"}, {"name": "Bob", "sourceUrl": "https://q.example/"}]
    )
    assert len(store.items) == 2
    assert "has the address" in refusal(store.add_item, {"name": "Eve", "sourceUrl": "https://q.example/"})


def test_the_list_can_be_set_as_a_whole_or_not_at_all():
    store = make_store()
    store.add_item({"name": "A"})
    assert "The list was not replaced. Refused 1: [1] " in refusal(store.set_field, "items", [{"name": "B"}, {"n": 1}])
    assert store.items == [{"name": "A", "rating": None}]
    assert store.set_field("items", [{"name": "B"}, {"name": "C"}]).text == "Set 2 items."
    assert "give a list, or use add_item" in refusal(store.set_field, "items", "B")
    assert Gap(None, "items") in make_store().gaps()
    store.set_field("items", [])
    assert Gap(None, "items") not in store.gaps()
    assert store.value == {"items": []}


def test_fields_are_looked_for_where_they_belong():
    store = make_store()
    assert "price is a field of the items; use update_item" in refusal(store.set_field, "price", 1)
    assert "there is no field 'sum'" in refusal(store.set_field, "sum", 1)
    single = make_store({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}})
    assert "The answer has no list of items; use set_field" in refusal(single.add_item, {"name": "A"})
    single.load_rows([{"name": "A", "n": "3", "_page": "https://x.example"}])
    assert single.value == {"name": "A", "n": 3}
    assert "give one row, not 2" in refusal(single.load_rows, [{"name": "A"}, {"name": "B"}])


def test_an_answer_that_is_a_list_itself_and_lists_of_plain_values_are_filled_likewise():
    store = make_store({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}})
    store.add_item({"a": 1})
    assert store.value == [{"a": 1}]
    assert json.loads(store.to_json()) == [{"a": 1}]
    assert "use add_item" in refusal(store.set_field, "a", 1)
    names = make_store({"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}})
    names.load_rows(["A", "B"])
    names.update_item(1, {"value": "C"})
    assert names.value == {"names": ["A", "C"]}
    assert "Item 0 is the very same" in refusal(names.add_item, "A")
    mixed = make_store(
        {"properties": {"n": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}
    )
    mixed.add_item("x")
    mixed.add_item("y")
    assert mixed.value == {"tags": ["x", "y"]}


def test_the_schemas_own_values_are_there_from_the_start_and_do_not_count_as_work():
    schema = list_of({"name": {"type": "string"}, "unit": {"type": "string", "default": "kg"}}, required=["unit"])
    schema["properties"]["source"] = {"type": "string", "default": "shop"}
    schema["properties"]["kind"] = {"const": "wares"}
    schema["properties"]["bad"] = {"type": "integer", "default": "many"}
    schema["required"] = ["kind", "items"]
    store = make_store(schema)
    assert store.seeded == {"source": "shop", "kind": "wares"}
    assert not store.is_touched
    store.add_item({"name": "A"})
    assert store.value == {"items": [{"name": "A", "unit": "kg"}], "source": "shop", "kind": "wares"}
    assert "The item is empty" in refusal(store.add_item, {})


def test_kinds_of_a_union_are_told_apart_and_each_has_its_own_fields():
    def of_kind(kind: str, **fields: Any) -> dict[str, Any]:
        properties = {"kind": {"const": kind}, **fields}
        return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}

    union = {"anyOf": [of_kind("book", pages={"type": "integer"}), of_kind("film", minutes={"type": "integer"})]}
    store = make_store({"type": "object", "properties": {"items": {"type": "array", "items": union}}})
    store.add_item({"kind": "book"})
    assert store.gaps() == (Gap(0, "pages"),)
    assert "minutes" in refusal(store.update_item, 0, {"minutes": 90})
    store.update_item(0, {"pages": "300"})
    assert not store.gaps()
    store.add_item({"kind": "Film", "minutes": 90})
    assert store.is_valid
    assert "it fits none of the kinds of object" in refusal(store.add_item, {"kind": "film", "pages": 3})
    nested = {"oneOf": [{"$ref": "#/$defs/Printed"}, of_kind("song", seconds={"type": "integer"})]}
    printed = {"oneOf": [of_kind("map", scale={"type": "integer"}), of_kind("book", pages={"type": "integer"})]}
    store = make_store({"type": "array", "items": nested, "$defs": {"Printed": printed}})
    store.load_rows([{"kind": "book", "pages": 3}, {"kind": "song", "seconds": 90}, {"kind": "map"}])
    assert store.gaps() == (Gap(2, "scale"),)
    assert "it fits none" in refusal(store.update_item, 2, {"pages": 9})


def test_a_value_of_several_types_stays_what_it_is():
    store = make_store(
        {"properties": {"a": {"type": ["string", "number"]}, "b": {"anyOf": [{"type": "integer"}, {"enum": ["many"]}]}}}
    )
    store.set_field("a", "12")
    store.set_field("b", "Many")
    assert store.value == {"a": "12", "b": "many"}
    store.set_field("b", "12")
    assert store.value["b"] == 12


def test_rules_across_fields_ask_for_more_and_refuse_what_breaks_them():
    schema = list_of({"kind": {"enum": ["new", "used"]}, "age": {"type": "integer"}, "x": {}})
    schema["properties"]["items"]["items"] |= {
        "if": {"properties": {"kind": {"const": "used"}}, "required": ["kind"]},
        "then": {"required": ["age"]},
        "else": {"properties": {"age": {"maximum": 0}}},
    }
    store = make_store(schema)
    store.load_rows([{"kind": "new"}, {"kind": "used"}])
    assert store.gaps() == (Gap(1, "age"),)
    assert "age" in refusal(store.update_item, 0, {"age": 3})
    store.update_item(1, {"age": 3})
    assert not store.gaps()


def test_fields_that_the_schema_leaves_open_are_taken_by_its_rules():
    schema = {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    store = make_store(schema)
    store.set_field("anything", 3)
    assert store.value == {"anything": 3}
    assert "anything" in refusal(store.set_field, "anything", "three")


def test_each_value_is_traced_to_the_page_it_was_written_from_and_no_later_one():
    evidence = read_shop()
    store = make_store(evidence=evidence)
    store.add_item({"name": "Lamp 1", "price": 11.5, "productUrl": ware_url(1), "released": "2021-05-05"})
    store.add_item({"name": "Lamp 0", "price": 10.5, "_page": ware_url(0)})
    see(evidence, "https://other.example/", "Lamp 1 again for 11,50", step=9)
    found = store.provenance()
    assert found["/items/0/price"] == Provenance(
        ware_url(1), "Lamp 1 Price: 11,50 EUR Released 5 May 2021 A lamp of brass.", AT, 3, "001-0003.jpg"
    )
    assert {pointer: source.url for pointer, source in found.items() if isinstance(source, Provenance)} == {
        "/items/0/name": ware_url(1),
        "/items/0/price": ware_url(1),
        "/items/0/productUrl": ware_url(1),
        "/items/0/released": ware_url(1),
        "/items/1/name": ware_url(0),
        "/items/1/price": ware_url(0),
    }
    store.remove_items([0])
    assert set(store.provenance()) == {"/items/0/name", "/items/0/price"}
    store.update_item(0, {"price": 99})
    assert set(store.provenance()) == {"/items/0/name"}


def test_nested_values_and_odd_names_have_their_own_pointers():
    evidence = Evidence()
    see(evidence, LIST, "Made of brass and linen, 30 cm")
    schema = {
        "properties": {"a/b~c": {"type": "object"}, "of": {"type": "array", "items": {"type": "string"}}, "n": {}}
    }
    store = make_store(schema, evidence)
    store.set_field("a/b~c", {"height": 30, "x": [1]})
    store.set_field("of", ["brass", "gold", "linen"])
    assert set(store.provenance()) == {"/a~1b~0c/height", "/of/0", "/of/2"}


async def test_values_are_traced_in_portions_and_one_that_is_written_anew_meanwhile_is_traced_anew():
    evidence = Evidence()
    see(evidence, LIST, "Made of brass and linen, 30 cm")
    store = make_store({"properties": {"made": {"type": "object"}}}, evidence)
    store.set_field("made", {"of": ["brass"] * 1_000})
    turns = 0
    tracing = asyncio.create_task(store.trace())
    while not tracing.done():
        turns += 1
        if turns == 3:
            store.set_field("made", {"of": ["linen", "gold", "brass"]})
        await asyncio.sleep(0)
    await tracing
    assert turns > 15
    assert set(store.provenance()) == {"/made/of/0", "/made/of/2"}


def test_what_is_let_go_of_the_evidence_is_traced_before():
    evidence = Evidence()
    see(evidence, LIST, "Lamp 7 costs 17,50 today")
    store = make_store(evidence=evidence)
    store.add_item({"name": "Lamp 7", "price": 17.5})
    for number in range(5):
        see(evidence, ware_url(number), f"{number}" + " filler" * 80_000)
    assert LIST not in {sighting.url for sighting in evidence.sightings}
    found = store.provenance()
    assert {source.url for source in found.values() if isinstance(source, Provenance)} == {LIST}
    assert set(found) == {"/items/0/name", "/items/0/price"}


def test_an_absent_value_stands_as_null_and_is_valid_only_where_null_is():
    store = make_store(evidence=read_shop())
    store.load_rows([{"name": "Lamp 0", "productUrl": ware_url(0)}, {"name": "Lamp 1", "productUrl": ware_url(1)}])
    store.set_field("total", 2)
    store.mark_absent("rating", "no page rates anything")
    store.mark_absent("price", "not for sale")
    assert not store.gaps()
    assert [row["price"] for row in store.items] == [None, None]
    assert not store.is_valid
    assert "price" in store.defects()[0]
    assert store.provenance()["/items/0/rating"] == Absence("no page rates anything")
    assert "price absent on all" in store.coverage_line
    store.update_item(0, {"price": 10.5})
    store.update_item(1, {"price": 11.5})
    assert store.is_valid
    tags = make_store(
        list_of({"tags": {"type": "array", "items": {"type": "string"}}, "a": {}}, required=["tags"]), read_shop()
    )
    tags.add_item({"a": 1})
    tags.mark_absent("tags", "none")
    assert tags.value == {"items": [{"a": 1, "tags": []}]}
    assert tags.is_valid


def test_a_list_whose_places_differ_is_checked_as_a_whole_with_each_write():
    pair = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": False}
    store = make_store({"type": "object", "properties": {"size": pair}})
    store.set_field("size", ["width", 12])
    for wrong in (["width", "twelve"], ["width", 12, "cm"]):
        with pytest.raises(AnswerRefused):
            store.set_field("size", wrong)
    with pytest.raises(AnswerRefused):
        store.add_item("cm")
    assert store.value == {"size": ["width", 12]}


def test_a_field_without_a_name_has_a_pointer_of_its_own():
    fields = {"": {"type": "string"}, "name": {"type": "string"}}
    items = {"type": "array", "items": {"type": "object", "properties": fields}}
    store = make_store({"type": "object", "properties": {**fields, "lamps": items}})
    see(store.evidence, ware_url(1), "Lamp Oslo is blue.")
    store.set_field("", "blue")
    store.add_item({"": "Lamp", "name": "Oslo"})
    assert set(store.provenance()) == {"/", "/lamps/0/", "/lamps/0/name"}
