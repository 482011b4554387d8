"""The keyless model at work on a real site: one market of lamps in many forms."""

from typing import Any

import pytest

from appliance.words import Ending, FailureKind
from tests.appliance.agent.conftest import Finish, Work
from tests.site import Site
from tests.site.market import HOSTILE, LAMPS, PER_PAGE, lamp

TEXT, NUMBER, ADDRESS = {"type": "string"}, {"type": "number"}, {"type": "string", "format": "uri"}
PLAIN = {"name": TEXT, "sku": TEXT, "price": NUMBER, "url": ADDRESS}


def listing(*required: str, **properties: Any) -> dict[str, Any]:
    item = {"type": "object", "required": list(required), "properties": properties}
    return {"type": "object", "required": ["lamps"], "properties": {"lamps": {"type": "array", "items": item}}}


SCHEMA = listing("name", "sku", "price", **PLAIN)


def actions_of(work: Work) -> list[str]:
    return [receipt.name for receipt in work.receipts]


def asked_for(work: Work) -> list[str]:
    """The addresses that were given to read_pages."""
    calls = [call for plan in work.plans for call in plan.calls if call.name == "read_pages"]
    return [url for call in calls for url in call.arguments["urls"]]


def expected(site: Site, *numbers: int) -> list[dict[str, Any]]:
    return [
        {
            "name": lamp(number)["name"],
            "sku": lamp(number)["sku"],
            "price": lamp(number)["price"],
            "url": site.url(f"/market/lamps/{number}"),
        }
        for number in numbers
    ]


async def run(finish: Finish, site: Site, path: str, schema: dict[str, Any], words: str = "List the lamps of") -> Any:
    return await finish([], provider="autopilot", task=f"{words} {site.url(path)}", output_schema=schema)


async def test_a_list_of_14_is_followed_to_its_pages_and_filled_from_json_ld_and_definition_lists(
    finish: Finish, site: Site
):
    nullable = {"type": ["number", "null"]}
    schema = listing("name", "weight_kg", "warranty", **PLAIN, maker=TEXT, description=TEXT, weight_kg=nullable,
                     warranty={"type": ["string", "null"]})  # fmt: skip
    outcome, work = await run(finish, site, "/market/lamps", schema)
    assert (outcome.ending, outcome.is_successful) == (Ending.DONE, True)
    rows = outcome.output["lamps"]
    assert [{name: row[name] for name in PLAIN} for row in rows] == expected(site, *range(1, LAMPS + 1))
    for number, row in enumerate(rows, 1):
        about = lamp(number)
        assert (row["maker"], row["weight_kg"], row["warranty"]) == (about["maker"], about["weight"], None)
        assert row["description"].startswith(about["description"])
    assert outcome.summary == (
        f"Read 1 page of the list and {LAMPS} pages behind it: {LAMPS} items. "
        f"Not stated: weight_kg on {LAMPS // 2}, warranty on all."
    )
    assert outcome.cost_usd == 0
    assert len(work.plans) == 4
    assert outcome.provenance["/lamps/3/weight_kg"]["url"] == site.url("/market/lamps/4")
    assert outcome.provenance["/lamps/3/warranty"]["status"] == "absent"


async def test_a_table_without_pages_behind_it_is_filled_in_as_it_stands(finish: Finish, site: Site):
    outcome, work = await run(finish, site, "/market/table", SCHEMA)
    assert outcome.is_successful
    assert [row["sku"] for row in outcome.output["lamps"]] == [lamp(number)["sku"] for number in range(1, LAMPS + 1)]
    assert "read_pages" not in actions_of(work)
    assert outcome.summary == f"Read 1 page of the list: {LAMPS} items."


async def test_a_list_that_says_all_that_is_asked_for_is_not_followed_to_its_pages(finish: Finish, site: Site):
    schema = listing("name", "price", name=TEXT, price=NUMBER, maker=TEXT, link=ADDRESS)
    outcome, work = await run(finish, site, "/market/lamps", schema)
    assert outcome.is_successful
    assert outcome.output["lamps"][1] == {
        "name": "Lamp model 02", "price": 21.9, "maker": "Cobalt", "link": site.url("/market/lamps/2"),
    }  # fmt: skip
    assert "read_pages" not in actions_of(work)


@pytest.mark.parametrize("by", ["next", "numbers", "rel"])
async def test_a_list_on_several_pages_is_read_to_its_end(finish: Finish, site: Site, by: str):
    outcome, work = await run(finish, site, f"/market/paged?by={by}", SCHEMA)
    assert outcome.is_successful
    assert outcome.output["lamps"] == expected(site, *range(1, LAMPS + 1))
    assert outcome.summary == f"Read 3 pages of the list and {LAMPS} pages behind it: {LAMPS} items."
    assert actions_of(work).count("navigate") == 3


async def test_a_number_in_the_task_limits_what_is_read(finish: Finish, site: Site):
    outcome, work = await run(finish, site, "/market/paged?by=next", SCHEMA, "List the first 7 lamps of")
    assert outcome.output["lamps"] == expected(site, *range(1, 8))
    assert outcome.is_successful
    assert asked_for(work) == [site.url(f"/market/lamps/{number}") for number in range(1, 8)]
    only, _ = await run(finish, site, "/market/paged?by=next", SCHEMA, "List the first page of lamps of")
    assert only.output["lamps"] == expected(site, *range(1, PER_PAGE + 1))


async def test_a_button_for_more_is_pressed_until_it_is_gone(finish: Finish, site: Site):
    outcome, work = await run(finish, site, "/market/growing?by=button", SCHEMA)
    assert outcome.output["lamps"] == expected(site, *range(1, LAMPS + 1))
    assert actions_of(work).count("click") == 2


async def test_a_list_that_grows_as_it_is_scrolled_is_read_to_its_end(finish: Finish, site: Site):
    outcome, work = await run(finish, site, "/market/growing?by=scroll", SCHEMA)
    assert outcome.output["lamps"] == expected(site, *range(1, LAMPS + 1))
    assert len(work.plans) == 4


async def test_a_list_in_a_panel_of_another_host_is_followed_too(finish: Finish, site: Site):
    outcome, _ = await run(finish, site, "/market/panel", SCHEMA)
    assert [row["sku"] for row in outcome.output["lamps"]] == [lamp(number)["sku"] for number in range(1, LAMPS + 1)]
    assert outcome.output["lamps"][0]["url"] == site.url("/market/lamps/1", host=2)


async def test_a_dead_link_is_told_and_the_other_pages_are_delivered(finish: Finish, site: Site):
    outcome, _ = await run(finish, site, "/market/some", SCHEMA)
    assert outcome.output["lamps"] == expected(site, 1, 2, 4)
    assert outcome.is_successful
    assert f"Could not be read: {site.url('/market/lamps/99')}" in outcome.summary


async def test_words_of_a_page_that_give_orders_are_data(finish: Finish, site: Site):
    outcome, work = await run(finish, site, "/market/lamps", SCHEMA)
    assert outcome.output["lamps"][HOSTILE - 1] == expected(site, HOSTILE)[0]
    assert not any("steal" in str(receipt) for receipt in work.receipts)


async def test_a_page_about_one_thing_fills_an_answer_without_a_list(finish: Finish, site: Site):
    schema = {"type": "object", "required": ["name", "price"], "properties": {**PLAIN, "weight_kg": NUMBER}}
    outcome, work = await run(finish, site, "/market/lamps/4", schema, "Record the lamp at")
    assert outcome.output == {**expected(site, 4)[0], "weight_kg": 1.9}
    assert outcome.is_successful
    assert len(work.plans) == 3


async def test_what_the_task_names_is_opened_from_the_list(finish: Finish, site: Site):
    schema = {"type": "object", "required": ["name", "sku"], "properties": PLAIN}
    outcome, _ = await run(finish, site, "/market/lamps", schema, "Record lamp model 05 of")
    assert outcome.output == expected(site, 5)[0]


async def test_pictures_choices_other_addresses_and_the_rest_are_filled_and_refused_values_cost_no_row(
    finish: Finish, site: Site
):
    stock = {"enum": ["in_stock", "sold_out"]}
    rest = {"type": "object", "additionalProperties": TEXT}
    schema = listing("name", "id", name=TEXT, image=ADDRESS, stock=stock, makerUrl=ADDRESS, extra=rest,
                     id={"type": ["string", "null"]})  # fmt: skip
    outcome, _ = await run(finish, site, "/market/rich", schema)
    assert outcome.is_successful
    assert [row["name"] for row in outcome.output["lamps"]] == [lamp(number)["name"] for number in (1, 2, 3)]
    first = outcome.output["lamps"][0]
    assert first["image"] == site.url("/pictures/1.jpg")
    assert (first["stock"], first["id"]) == ("in_stock", None)
    assert first["makerUrl"] == site.url("/market/makers/birch")
    assert first["extra"]["Cable"] == "2 m"


async def test_fields_of_the_answer_itself_are_filled_beside_its_list(finish: Finish, site: Site):
    schema = SCHEMA | {"required": ["title", "lamps", "owner"]}
    schema["properties"] = {"title": TEXT, "owner": {"type": ["string", "null"]}, **SCHEMA["properties"]}
    outcome, _ = await run(finish, site, "/market/some", schema)
    assert (outcome.output["title"], outcome.output["owner"]) == ("All lamps", None)
    assert outcome.is_successful
    assert "Not stated: owner." in outcome.summary


async def test_what_no_page_states_is_handed_in_as_missing_and_not_as_a_success(finish: Finish, site: Site):
    schema = listing("name", "sku", "wattage", **PLAIN, wattage=NUMBER)
    outcome, work = await run(finish, site, "/market/some", schema)
    assert not outcome.is_successful
    assert [row["name"] for row in outcome.output["lamps"]] == [lamp(number)["name"] for number in (1, 2, 4)]
    assert "wattage on all" in outcome.summary
    assert len(work.plans) < 10


@pytest.mark.parametrize(
    ("path", "schema", "reason"),
    [
        ("/market/login", SCHEMA, "asks for a sign-in"),
        ("/market/about", SCHEMA, "states no list"),
        ("/market/login", {"type": "object", "required": ["sku"], "properties": PLAIN}, "asks for a sign-in"),
        ("/status?code=503", SCHEMA, "answered 503"),
        ("/market/lamps", {"type": "array", "items": TEXT}, "list of plain values"),
    ],
)
async def test_what_it_cannot_do_is_said_plainly(
    finish: Finish, site: Site, path: str, schema: dict[str, Any], reason: str
):
    outcome, work = await run(finish, site, path, schema)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert not outcome.is_successful
    assert reason in outcome.summary
    assert len(work.plans) <= 3


async def test_a_task_that_asks_for_judgement_is_told_that_there_was_none(finish: Finish, site: Site):
    outcome, _ = await run(finish, site, "/market/table", SCHEMA, "Find the cheapest lamp of")
    assert "it did not compare or judge" in outcome.summary
    assert len(outcome.output["lamps"]) == LAMPS


@pytest.mark.parametrize("max_steps", [4, 7])
async def test_a_run_out_of_steps_hands_in_what_it_has(finish: Finish, site: Site, max_steps: int):
    outcome, _ = await finish(
        [],
        provider="autopilot",
        task=f"List the lamps of {site.url('/market/paged?by=next')}",
        output_schema=SCHEMA,
        max_steps=max_steps,
    )
    assert outcome.output["lamps"] == expected(site, *range(1, len(outcome.output["lamps"]) + 1))
    assert outcome.output["lamps"]
