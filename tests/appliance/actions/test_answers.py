import asyncio
import json
from typing import Any

import pytest

from appliance.actions.answers import STORE_ACTIONS
from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.actions.schema import signature
from appliance.errors import ActionInvalid, RunDone
from appliance.store.answers import AnswerStore
from appliance.store.evidence import Provenance
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands
from tests.schemas import INTEGER, NUMBER, TEXT, list_schema

SCHEMA = list_schema({"name": TEXT, "price": NUMBER, "url": TEXT}, ["name", "price"], own={"total": INTEGER})
NAMES = [action.name for action in STORE_ACTIONS]


def with_schema(hands: Hands, schema: dict[str, Any]) -> AnswerStore:
    hands.context = ActionContext(hands.browser, hands.context.scratchpad, hands.model, "Get lamps", schema)
    assert hands.context.store is not None
    return hands.context.store


@pytest.fixture
def store(hands: Hands) -> AnswerStore:
    return with_schema(hands, SCHEMA)


def mirrored(hands: Hands) -> Any:
    return json.loads(hands.context.scratchpad.read("output.json"))


def test_runs_are_told_of_the_actions_that_their_schema_has_a_use_for(hands: Hands):
    def names() -> list[str]:
        described = Registry.for_context(hands.context).describe()
        return [name for name in NAMES if f"\n{name} {{" in described]

    assert names() == []
    with_schema(hands, SCHEMA)
    assert names() == NAMES
    with_schema(hands, {"properties": {"name": {"type": "string"}}})
    assert names() == ["set_field", "mark_absent", "read_output", "add_items_from_file"]
    hands.context = ActionContext(hands.browser, hands.context.scratchpad, hands.model, "Get it", {"type": "string"})
    assert names() == []


def test_all_of_them_together_take_little_of_the_prompt():
    lines = [f"{action.name} {signature(action)}: {action.description}" for action in STORE_ACTIONS]
    assert len("\n".join(lines)) < 1_600


async def test_an_answer_is_filled_in_step_by_step_and_mirrored_each_time(hands: Hands, store: AnswerStore):
    done = await hands.act("add_item", item={"name": "A", "price": "1.5"})
    assert done.text == "Added item 0. 1 item: name, price on all; url on none. Top level: total unset."
    assert mirrored(hands) == {"items": [{"name": "A", "price": 1.5}]}
    await hands.act("add_item", name="B", price=2)
    await hands.act("update_item", index="1", fields='{"price": 3}')
    await hands.act("update_items", updates=[{"index": 0, "fields": {"price": 4}}])
    await hands.act("set_field", field="total", value="2")
    assert (
        mirrored(hands) == store.value == {"items": [{"name": "A", "price": 4}, {"name": "B", "price": 3}], "total": 2}
    )
    await hands.act("remove_items", indices=0)
    assert mirrored(hands)["items"] == [{"name": "B", "price": 3}]
    assert not [path for path in hands.context.scratchpad.root.iterdir() if path.name.startswith(".")]


async def test_a_refused_write_says_why_changes_nothing_and_ends_no_chain(hands: Hands, store: AnswerStore):
    done = await hands.act("add_item", item={"name": "A", "price": "cheap"})
    assert (done.status, done.ends_chain) == (ReceiptStatus.FAILED, False)
    assert done.text.startswith("Nothing was written. price: ")
    assert not (hands.context.scratchpad.root / "output.json").exists()
    assert not store.is_touched
    with pytest.raises(ActionInvalid):
        await hands.act("update_item", fields={"price": 1})


async def test_a_link_that_stands_on_the_open_page_is_taken_and_one_that_does_not_is_refused(
    hands: Hands, store: AnswerStore
):
    await hands.open("product.html")
    hands.context.evidence.hear("")
    done = await hands.act("search_page", pattern="comfortable")
    assert done.status is ReceiptStatus.OK
    good, bad = hands.site.url("/guide"), hands.site.url("/guide2")
    done = await hands.act("add_item", item={"name": "A", "price": 1, "url": bad})
    assert f"shows the address '{bad}'; the nearest that one did is {good}" in done.text
    done = await hands.act("add_item", item={"name": "A", "price": 1, "url": good})
    assert done.status is ReceiptStatus.OK
    assert store.items[0]["url"] == good


async def test_what_actions_read_off_the_page_is_evidence_and_counts_as_looking(hands: Hands, store: AnswerStore):
    await hands.open("product.html")
    looks = store.evidence.looks
    await hands.act("search_page", pattern="Material")
    await hands.act("find_elements", selector="nav a")
    await hands.act("evaluate", code="[document.querySelector('dd').textContent, 'made up 77', 400 + 56]")
    assert store.evidence.looks >= looks + 3
    assert store.evidence.has_text("Oak")
    assert store.evidence.has_link(hands.site.url("/all"))
    for value, is_read in (("Blue", True), (456, True), ("made up 77", False), (77, False)):
        assert (store.evidence.find(value) is not None) is is_read
    await hands.act("add_item", item={"name": "Blue", "price": 456})
    found = store.provenance()["/items/0/name"]
    assert isinstance(found, Provenance)
    assert found.url == hands.site.url("/product.html")


async def test_the_answer_is_read_in_windows_and_searched(hands: Hands, store: AnswerStore):
    store.load_rows([{"name": f"Lamp {number}" + " long" * 100, "price": number} for number in range(50)])
    store.set_field("total", 50)
    done = await hands.act("read_output", **{"from": 45})
    assert done.text.startswith("The answer has 50 item(s), 45 to 49 shown. 50 items: name, price on all")
    assert done.carried is not None
    lines = done.carried.splitlines()
    assert lines[0] == "total: 50"
    assert lines[1].startswith('45: {"name": "Lamp 45 long')
    assert lines[1].endswith('(507 characters)", "price": 45}')
    assert len(lines) == 6
    done = await hands.act("read_output", **{"from": 3, "count": 2})
    assert "3 to 4 shown; go on with from 5" in done.text
    assert "beyond them" in (await hands.act("read_output", **{"from": 50})).text
    assert len((await hands.act("read_output", count=200)).carried or "") < 30_000
    done = await hands.act("search_output", query="lamp 7")
    assert (done.text, (done.carried or "")[:15]) == ("1 value(s) of the answer have 'lamp 7'.", "7: name Lamp 7 ")
    assert (
        await hands.act("search_output", query="LONG")
    ).text == "50 value(s) of the answer have 'LONG', the first 25 are shown."
    assert "Nothing in the answer" in (await hands.act("search_output", query="table")).text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.json", '[{"name": "A", "price": 1, "_page": "http://x.example/"}, {"name": "B", "price": 2}]'),
        ("rows.json", '{"items": [{"name": "A", "price": 1}, {"name": "B", "price": 2}], "total": 2}'),
        ("rows.json", '{"rows": [{"name": "A", "price": 1}, {"name": "B", "price": 2}]}'),
        ("rows.jsonl", '{"name": "A", "price": 1}\n\n{"name": "B", "price": 2}\n'),
        ("rows.csv", "name,price,url\nA,1,\nB,2,\n"),
        ("rows.csv", "Name;Price\nA;1\nB;2\n"),
        ("rows.tsv", "name\tprice\nA\t1\nB\t2\n"),
    ],
)
async def test_rows_are_taken_out_of_files_of_every_usual_form(hands: Hands, store: AnswerStore, name: str, text: str):
    hands.context.scratchpad.write(name, text)
    done = await hands.act("add_items_from_file", name=name)
    assert done.text.startswith("Added 2 of 2 items, numbers 0 to 1. 2 items: name, price on all")
    assert store.items == [{"name": "A", "price": 1}, {"name": "B", "price": 2}]


async def test_rows_of_a_file_change_the_items_they_belong_to(hands: Hands, store: AnswerStore):
    store.load_rows([{"name": "A"}, {"name": "B"}])
    hands.context.scratchpad.write("more.csv", "name,price\nB,2\nC,3\n")
    done = await hands.act("update_items_from_file", name="more.csv")
    assert done.text.startswith("Updated 1 of 2 items. Refused 1: [1] No item fits it")
    assert [row.get("price") for row in store.items] == [None, 2]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("bad.json", "[{", "bad.json is not JSON (line 1)"),
        ("nan.json", '[{"price": NaN}]', "not JSON (NaN is no JSON number)"),
        ("deep.json", "[" * 100_000, "is not JSON"),
        ("empty.json", "[]", "empty.json has no rows"),
        ("empty.csv", "name,price\n", "has no rows"),
        ("wrong.json", '[{"nam": 1}, 3]', "Nothing was taken. Refused 2: [0] there is no field 'nam'"),
        ("many.json", json.dumps([1] * 20_001), "has 20001 rows; 20000 can be taken at most"),
    ],
)
async def test_files_without_usable_rows_are_refused_with_the_reason(
    hands: Hands, store: AnswerStore, name: str, text: str, says: str
):
    hands.context.scratchpad.write(name, text)
    done = await hands.act("add_items_from_file", name=name)
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text
    assert "There is no file" in (await hands.act("add_items_from_file", name="none.json")).text
    assert store.items == []


async def test_an_answer_too_large_for_its_file_is_kept_all_the_same(hands: Hands):
    store = with_schema(hands, {"type": "array", "items": {"type": "object", "properties": {"t": {"type": "string"}}}})
    for number in range(25):
        await hands.act("add_item", item={"t": f"{number}" + "x" * 350_000})
    done = await hands.act("add_item", item={"t": "last"})
    assert "(output.json does not show it: " in done.text
    assert len(store.items) == 26


async def test_others_have_their_turn_while_it_is_found_where_a_large_answer_was_read(hands: Hands, store: AnswerStore):
    for number in range(100):
        store.add_item({"name": f"Lamp {number}", "price": number})
    store.set_field("total", 100)
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(take_turns())
    with pytest.raises(RunDone) as done:
        await hands.act("done", text="All lamps.")
    other.cancel()
    assert turns > 100
    assert done.value.answer == store.value
