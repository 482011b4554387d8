from typing import Any

import pytest

from appliance.errors import AnswerRefused
from appliance.store.evidence import Evidence
from tests.appliance.store.shop import LIST, list_of, make_store, read_shop, see, ware_url

STRING = {"type": "string"}


def refusal(write: Any, *arguments: Any) -> AnswerRefused:
    with pytest.raises(AnswerRefused) as caught:
        write(*arguments)
    return caught.value


@pytest.mark.parametrize(
    ("field", "schema", "bad", "good"),
    [
        ("contactEmail", STRING, "ask at the desk", "desk@shop.example"),
        ("mail", {"type": "string", "format": "email"}, "desk@", "desk@shop.example"),
        ("orderUuid", STRING, "123", "6f1c1b1e-7f3a-4c1d-9a52-0d4f4a0c9e11"),
        ("key", {"type": "string", "format": "uuid"}, "123", "6f1c1b1e-7f3a-4c1d-9a52-0d4f4a0c9e11"),
        ("productId", STRING, "see the page", "LMP-000"),
        ("sku_id", STRING, "https://shop.example/wares/1", "1"),
        ("id", STRING, "unknown", "a1"),
        ("productUrl", STRING, "wares/1", ware_url(1)),
        ("link", STRING, "https://shop.example/a b", ware_url(1)),
        ("imageHref", STRING, "see above", "https://cdn.example/1.jpg"),
        ("page", {"type": "string", "format": "uri"}, "www.shop.example", ware_url(1)),
    ],
)
def test_a_field_whose_name_or_format_says_what_it_holds_takes_nothing_else(
    field: str, schema: dict[str, Any], bad: str, good: str
):
    store = make_store({"properties": {field: schema}}, read_shop())
    assert f"{field}: " in refusal(store.set_field, field, bad).message
    assert store.value == {}
    store.set_field(field, good)
    assert store.value == {field: good}


@pytest.mark.parametrize("form", ["hostname", "uri-template", "regex"])
def test_any_other_format_opts_out_of_what_the_name_says(form: str):
    store = make_store({"properties": {"siteUrl": {"type": "string", "format": form}}}, read_shop())
    store.set_field("siteUrl", "shop.example")
    assert store.value == {"siteUrl": "shop.example"}


def test_a_link_is_taken_only_if_a_page_showed_it_byte_for_byte():
    query = "x" * 300
    right, wrong = f"https://s.example/?q={query}a{query}", f"https://s.example/?q={query}b{query}"
    evidence = Evidence()
    see(evidence, LIST, "Wares", *(f"https://s.example/?q={query}{number}{query}" for number in range(30)), right)
    store = make_store(list_of({"name": STRING, "url": STRING}), evidence)
    error = refusal(store.add_item, {"name": "A", "url": wrong})
    assert "the nearest that one did is https://s.example/?q=xxx" in error.message
    assert error.links == (wrong,)
    assert "no page that was read shows" in refusal(store.add_item, {"name": "A", "url": right.upper()}).message
    store.add_item({"name": "A", "url": right})
    assert store.items[0]["url"] == right


def test_no_made_up_address_gets_in_by_another_field_or_inside_of_one():
    schema = {"properties": {"note": STRING, "more": {"type": "object"}, "all": {"type": "array"}}}
    store = make_store(schema, read_shop())
    for field, bad, good in (
        ("note", "https://evil.example/", ware_url(1)),
        ("more", {"a": [{"b": "https://evil.example/"}]}, {"a": [{"b": ware_url(1)}]}),
        ("all", [ware_url(1), "https://evil.example/"], [ware_url(1)]),
    ):
        assert "https://evil.example/" in refusal(store.set_field, field, bad).message
        store.set_field(field, good)
    store.set_field("note", "They say https://evil.example/ is down.")


def test_addresses_of_the_task_of_texts_and_of_pages_that_were_opened_are_known():
    evidence = read_shop()
    evidence.hear("Get the wares from https://task.example/a?b=1, please.")
    see(evidence, "https://open.example/", "Write to (https://text.example/x) or https://cut.example/abc… now")
    store = make_store({"properties": {"url": STRING}}, evidence)
    for known in ("https://task.example/a?b=1", "https://open.example/", "https://text.example/x"):
        store.set_field("url", known)
    for unknown in ("https://task.example/a?b=2", "https://cut.example/abc", "https://cut.example/abc…"):
        refusal(store.set_field, "url", unknown)


def test_a_choice_is_taken_only_if_a_page_says_it_in_whole_words():
    evidence = read_shop()
    see(evidence, LIST + "/x", "Kleinwagen mit Zitronen, in Stock, written in German")
    store = make_store(
        {"properties": {"language": {"enum": ["it", "German"]}, "stock": {"enum": ["in_stock", "sold_out"]}}}, evidence
    )
    assert "no page that was read says 'it', but 'German' is said" in refusal(store.set_field, "language", "it").message
    refusal(store.set_field, "language", "it")
    store.set_field("language", "German")
    refusal(store.set_field, "stock", "sold_out")
    store.set_field("stock", "in_stock")
    see(evidence, LIST + "/y", "Sold out")
    store.set_field("stock", "sold_out")


def test_a_choice_by_judgement_is_taken_when_it_is_given_again_and_without_pages_any_is():
    schema = {"properties": {"mood": {"enum": ["happy", "sad"]}}}
    store = make_store(schema, read_shop())
    assert "give it again" in refusal(store.set_field, "mood", "happy").message
    assert "give it again" in refusal(store.set_field, "mood", "sad").message
    store.set_field("mood", "happy")
    assert store.value == {"mood": "happy"}
    make_store(schema).set_field("mood", "sad")
    make_store({"properties": {"kind": {"enum": ["only"]}}}, read_shop()).set_field("kind", "only")


def test_a_third_item_copied_from_a_list_unread_is_refused_and_remembered_until_its_page_was_read():
    evidence = read_shop(wares=0)
    store = make_store(evidence=evidence)
    items = [{"name": f"Lamp {number}", "productUrl": ware_url(number)} for number in range(3)]
    store.add_item(items[0])
    store.add_item(items[1])
    assert f"read {ware_url(2)} first" in refusal(store.add_item, items[2]).message
    assert store.refused_items == (items[2],)
    assert store.coverage().refused == 1
    store.add_item({"name": "Lamp 3", "productUrl": ware_url(3), "description": "A lamp of brass. " * 10})
    see(evidence, ware_url(2), "Lamp 2")
    store.add_item(items[2])
    assert store.refused_items == ()


def test_items_without_a_description_to_read_up_may_come_from_a_list_alone():
    store = make_store(list_of({"name": STRING, "productUrl": STRING}), read_shop(wares=0))
    store.load_rows([{"name": f"Lamp {number}", "productUrl": ware_url(number)} for number in range(5)])
    assert len(store.items) == 5


def test_absence_is_earned_by_looking():
    schema = {"properties": {"founded": {"type": ["integer", "null"]}}, "required": ["founded"]}
    store = make_store(schema)
    assert "no page was read" in refusal(store.mark_absent, "founded", "nowhere").message
    see(store.evidence, LIST, "Our shop")
    assert "Say why founded is absent" in refusal(store.mark_absent, "founded", " ").message
    store.note_bounce()
    assert "nothing was looked at since done was sent back" in refusal(store.mark_absent, "founded", "nowhere").message
    see(store.evidence, LIST, "Our shop")
    refusal(store.mark_absent, "founded", "nowhere")
    store.evidence.look()
    store.mark_absent("founded", "nowhere")
    assert not store.gaps()
    assert store.is_valid


def test_a_page_that_was_looked_through_before_the_answer_came_back_need_not_be_again():
    store = make_store({"properties": {"founded": {"type": ["integer", "null"]}}, "required": ["founded"]})
    see(store.evidence, LIST, "Our shop")
    store.evidence.look()
    store.note_bounce()
    store.mark_absent("founded", "nowhere")


def test_a_field_of_items_is_absent_only_once_their_pages_were_read_or_proved_dead():
    store = make_store(evidence=read_shop(wares=2))
    long = "A lamp of brass that stands on a desk and gives light. " * 3
    store.load_rows([{"name": f"Lamp {n}", "productUrl": ware_url(n), "description": f"{n} {long}"} for n in range(4)])
    message = refusal(store.mark_absent, "rating", "not rated").message
    assert f"2 ({ware_url(2)}), 3 ({ware_url(3)})" in message
    store.mark_absent("rating", "not rated", 1)
    refusal(store.mark_absent, "rating", "not rated", [1, 2])
    store.links.dead[ware_url(3)] = "404"
    see(store.evidence, ware_url(2), "Lamp 2")
    store.mark_absent("rating", "not rated")
    assert "rating" not in {gap.field for gap in store.gaps()}
    assert "already" in refusal(store.mark_absent, "rating", "not rated").message


def test_a_field_that_some_items_have_is_not_absent_throughout():
    store = make_store(evidence=read_shop())
    store.load_rows([{"name": f"Lamp {n}", "productUrl": ware_url(n)} for n in range(3)])
    store.update_item(0, {"price": 10.5})
    assert "stated for 1 items, so it is not absent throughout" in refusal(store.mark_absent, "price", "none").message
    assert "is filled in on item 0" in refusal(store.mark_absent, "price", "none", 0).message
    store.mark_absent("price", "none", [1, 2])
    assert "price" not in {gap.field for gap in store.gaps()}


def test_only_fields_there_are_can_be_absent_and_a_list_only_while_it_is_empty():
    store = make_store(evidence=read_shop())
    assert (
        "There is no field 'colour'; there are: total, shop, name" in refusal(store.mark_absent, "colour", "x").message
    )
    assert "There is no item 5" in refusal(store.mark_absent, "price", "x", 5).message
    store.mark_absent("items", "the shop is empty")
    assert "items" not in {gap.field for gap in store.gaps()}
    store.add_item({"name": "Lamp 0"})
    assert "the list is not absent" in refusal(store.mark_absent, "items", "x").message
    store.set_field("total", 1)
    assert "total is filled in" in refusal(store.mark_absent, "total", "x").message
